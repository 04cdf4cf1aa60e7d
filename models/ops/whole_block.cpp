#include "models/ops/whole_block.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <ATen/ops/empty_like.h>

#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"
#include "models/ops/sublayer_call.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kBlockTokens = 128;  // beyond, a sequence leaves the second-level cache
constexpr std::size_t kBoth = 2 * kSublayerInputs;

/// The non-differentiable arguments of a call.
struct Fixed {
  NormRow::Form first, second;
  std::int64_t heads;
  RowActivation act;
  at::Tensor first_eps, second_eps, h;
  RotaryTables rotary;
};

/// The two prepared sublayers, their rows and per-cell arguments.
struct Prepared {
  PreparedSublayer attention, feed_forward;
  RowRuns runs;
  std::int64_t tokens;

  /// @param inputs  of both sublayers, `inputs_of` each.
  Prepared(Pass pass, const at::Tensor& x, const Fixed& fixed, const at::Tensor* inputs)
      : attention(pass, tensors_of(fixed.first, fixed.first_eps, inputs)),
        feed_forward(pass, tensors_of(fixed.second, fixed.second_eps, inputs + kSublayerInputs)),
        runs(x, rows_of_run(x.size(2))),
        tokens(x.size(2)) {}

  std::int64_t workspace(std::int64_t width, std::int64_t heads) const {
    const std::int64_t rows = runs.longest();
    return 2 * rows * width +
           std::max(sublayer_workspace(rows, width, attention.inner(), heads, tokens),
                    sublayer_workspace(rows, width, feed_forward.inner(), 0, tokens));
  }

  BlockWeightsOfCell weights(const Fixed& f, const RowRuns::Run& run) const {
    return {attention.weights(run.cell), feed_forward.weights(run.cell),
            heads_of(f.heads, tokens, f.rotary, run), f.act,
            f.h.defined() ? f.h.const_data_ptr<float>()[run.cell] : 0.0F};
  }
};

BlockRows rows_of(const KeptRows& a, const KeptRows& f, const RowRuns::Run& run, const Fixed& fixed,
                  std::int64_t width) {
  float* middle = fixed.h.defined() ? f.x.mutable_data_ptr<float>() + run.row * width : nullptr;
  return {a.rows(run, fixed.heads), f.rows(run, 0), middle};
}

class BlockNode : public GraphNode<BlockNode> {
 public:
  /// @param tensors  `inputs_of` both sublayers, an OptionalTensor each.
  template <class... Tensors>
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const Fixed& fixed,
                            const Tensors&... tensors) {
    const std::array<at::Tensor, kBoth> inputs = {*tensors...};
    const at::Tensor x = input.contiguous();
    const Prepared w(Pass::Forward, x, fixed, inputs.data());
    const KeptRows a(x, w.attention.inner(), fixed.heads);
    const KeptRows f(fixed.h.defined() ? at::empty_like(x) : x, w.feed_forward.inner(), 0);
    const at::Tensor y = at::empty_like(x);
    const std::int64_t n = x.size(3);
    w.runs.for_each(w.workspace(n, fixed.heads), [&](const RowRuns::Run& run) {
      block_rows_forward(w.weights(fixed, run), rows_of(a, f, run, fixed, n),
                         y.mutable_data_ptr<float>() + run.row * n, run.workspace);
    });
    variable_list saved;
    const auto keep = [&](const auto& list) {
      saved.insert(saved.end(), list.begin(), list.end());
    };
    keep(a.list());
    keep(f.list());
    keep(inputs_of(w.attention.tensors()));
    keep(inputs_of(w.feed_forward.tensors()));
    keep(variable_list{fixed.first_eps, fixed.second_eps, fixed.h, fixed.rotary.cosine,
                       fixed.rotary.sine});
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["first"] = static_cast<std::int64_t>(fixed.first);
    ctx->saved_data["second"] = static_cast<std::int64_t>(fixed.second);
    ctx->saved_data["heads"] = fixed.heads;
    ctx->saved_data["act"] = static_cast<std::int64_t>(fixed.act);
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("a whole block");
    const variable_list saved = ctx->get_saved_variables();
    const KeptRows a(saved, 0);
    const KeptRows f(saved, KeptRows::kTensors);
    const at::Tensor* const inputs = saved.data() + 2 * KeptRows::kTensors;
    const at::Tensor* const rest = inputs + kBoth;
    const auto form = [&](const char* which) {
      return static_cast<NormRow::Form>(ctx->saved_data[which].toInt());
    };
    const Fixed fixed{form("first"),
                      form("second"),
                      ctx->saved_data["heads"].toInt(),
                      static_cast<RowActivation>(ctx->saved_data["act"].toInt()),
                      rest[0],
                      rest[1],
                      rest[2],
                      {rest[3], rest[4]}};
    const Prepared w(Pass::Backward, a.x, fixed, inputs);
    const SublayerGradients da(w.attention.tensors(), w.runs);
    const SublayerGradients df(w.feed_forward.tensors(), w.runs);
    const at::Tensor dy = grads[0].contiguous();
    const at::Tensor dx = at::empty_like(a.x);
    const std::int64_t n = dx.size(3);
    w.runs.for_each(w.workspace(n, fixed.heads), [&](const RowRuns::Run& run) {
      block_rows_backward(w.weights(fixed, run), rows_of(a, f, run, fixed, n),
                          dy.const_data_ptr<float>() + run.row * n,
                          dx.mutable_data_ptr<float>() + run.row * n, da.of(run), df.of(run),
                          run.workspace);
    });
    variable_list out = {dx, {}};  // x, fixed
    for (const SublayerInputs& d : {da.result(), df.result()}) {
      out.insert(out.end(), d.begin(), d.end());
    }
    return out;
  }
};

}  // namespace

at::Tensor whole_block(const at::Tensor& x, const WholeBlock& b) {
  const Fixed fixed{b.attention.form, b.feed_forward.form, b.heads, b.act,
                    b.attention.eps,  b.feed_forward.eps,  b.h,     b.rotary};
  const auto node = [&](const auto&... tensors) {
    return BlockNode::apply(x, fixed, OptionalTensor(tensors)...);
  };
  return std::apply(node, std::tuple_cat(inputs_of(b.attention), inputs_of(b.feed_forward)));
}

bool whole_block_serves(const at::Tensor& x, const WholeBlock& b) {
  const bool fixed_step = !b.h.defined() || (host_kernels_serve(b.h) && !b.h.requires_grad());
  return fixed_step && x.size(2) <= kBlockTokens && sublayer_serves(x, b.attention, b.heads) &&
         sublayer_serves(x, b.feed_forward, 0);
}

}  // namespace depthgrid
