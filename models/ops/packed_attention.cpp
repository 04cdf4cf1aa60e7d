#include "models/ops/packed_attention.hpp"

#include <cmath>

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "models/ops/cpu/attention_kernel.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kPackedTokens = 256;  // beyond, a head's scores leave the cache

/// Addresses of the heads in (E, B, T, 3C) and (E, B, T, C).
struct Heads {
  std::int64_t cells, rows, tokens, width, heads, channels;
  const float* cosine = nullptr;
  const float* sine = nullptr;
  bool own = false;  // a table for each sequence

  Heads(const at::Tensor& qkv, std::int64_t count, const at::Tensor& c, const at::Tensor& s)
      : cells(qkv.size(0)),
        rows(qkv.size(1)),
        tokens(qkv.size(2)),
        width(qkv.size(3) / 3),
        heads(count),
        channels(width / count) {
    if (c.defined()) {
      cosine = c.const_data_ptr<float>();
      sine = s.const_data_ptr<float>();
      own = c.dim() == 4;
    }
  }

  std::int64_t count() const { return cells * rows * heads; }
  std::int64_t sequence(std::int64_t head) const { return head / heads; }

  /// Rows of matrix `which` (0 q, 1 k, 2 v) of `parts` packed side by side.
  template <class T>
  HeadRows<T> at(T* data, std::int64_t head, std::int64_t which, std::int64_t parts) const {
    return {
        data + sequence(head) * tokens * parts * width + which * width + head % heads * channels,
        parts * width};
  }

  AttentionHead head(const float* qkv, std::int64_t n) const {
    const std::int64_t table = (own ? sequence(n) : sequence(n) / rows) * tokens * (channels / 2);
    return {at(qkv, n, 0, 3),
            at(qkv, n, 1, 3),
            at(qkv, n, 2, 3),
            tokens,
            channels,
            1 / std::sqrt(static_cast<float>(channels)),
            cosine == nullptr ? nullptr : cosine + table,
            sine == nullptr ? nullptr : sine + table};
  }

  /// Runs work(head, workspace) for every head.
  template <class Work>
  void for_each(const Work& work) const {
    at::parallel_for(0, count(), 1, [&](std::int64_t begin, std::int64_t end) {
      const at::Tensor space = at::empty({attention_workspace(tokens, channels)}, at::kFloat);
      for (std::int64_t n = begin; n < end; ++n) work(n, space.mutable_data_ptr<float>());
    });
  }
};

class PackedAttention : public GraphNode<PackedAttention> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, std::int64_t count,
                            const OptionalTensor& cosine, const OptionalTensor& sine) {
    const at::Tensor qkv = input.contiguous();
    const at::Tensor &c = *cosine, &s = *sine;
    const Heads heads(qkv, count, c, s);
    const at::Tensor out =
        at::empty({heads.cells, heads.rows, heads.tokens, heads.width}, qkv.options());
    const at::Tensor normaliser = at::empty({heads.count(), heads.tokens, 2}, qkv.options());
    const float* from = qkv.const_data_ptr<float>();
    auto* to = out.mutable_data_ptr<float>();
    auto* logs = normaliser.mutable_data_ptr<float>();
    heads.for_each([&](std::int64_t n, float* space) {
      attention_forward(heads.head(from, n), heads.at(to, n, 0, 1), logs + 2 * n * heads.tokens,
                        space);
    });
    ctx->save_for_backward({qkv, out, normaliser, c, s});
    ctx->saved_data["heads"] = count;
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("packed attention");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor d_out = grads[0].contiguous();
    const at::Tensor d_qkv = at::empty_like(saved[0]);
    const Heads heads(saved[0], ctx->saved_data["heads"].toInt(), saved[3], saved[4]);
    const float* qkv = saved[0].const_data_ptr<float>();
    const float* out = saved[1].const_data_ptr<float>();
    const float* d = d_out.const_data_ptr<float>();
    const float* logs = saved[2].const_data_ptr<float>();
    auto* to = d_qkv.mutable_data_ptr<float>();
    heads.for_each([&](std::int64_t n, float* space) {
      attention_backward(heads.head(qkv, n), heads.at(out, n, 0, 1), heads.at(d, n, 0, 1),
                         logs + 2 * n * heads.tokens, heads.at(to, n, 0, 3), heads.at(to, n, 1, 3),
                         heads.at(to, n, 2, 3), space);
    });
    return {d_qkv, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor packed_attention(const at::Tensor& qkv, std::int64_t heads, const RotaryTables& rotary) {
  return PackedAttention::apply(qkv, heads, OptionalTensor(rotary.cosine),
                                OptionalTensor(rotary.sine));
}

bool packed_attention_serves(const at::Tensor& qkv, std::int64_t heads) {
  return host_kernels_serve(qkv) && qkv.scalar_type() == at::kFloat &&
         qkv.size(2) <= kPackedTokens && qkv.size(3) / 3 / heads <= 128;
}

}  // namespace depthgrid
