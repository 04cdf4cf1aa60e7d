#include "models/blocks/attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include "core/cells/queued_tensor.hpp"
#include "models/blocks/dropout.hpp"
#include "models/ops/hidden_scores.hpp"

namespace depthgrid {

RotaryAngles rotary_angles(const ModelOptions& o, std::int64_t first, std::int64_t tokens,
                           const at::Tensor& like) {
  const std::int64_t half = o.width / o.heads / 2;
  const at::TensorOptions wide = like.options().dtype(at::kDouble).requires_grad(false);
  const at::Tensor base = queued_tensor(o.rope_base, wide).view({-1, 1, 1});  // (E, 1, 1)
  const at::Tensor rate = base.pow(at::arange(half, wide) * (-1.0 / static_cast<double>(half)));
  const at::Tensor angle = at::arange(first, first + tokens, wide).unsqueeze(1) * rate;
  const auto wave = [&](const at::Tensor& v) {  // against x as (E, B, H, T, .)
    return v.to(like.scalar_type()).unsqueeze(1).unsqueeze(1);
  };
  return {wave(angle.cos()), wave(angle.sin())};
}

RotaryAngles at_places(const RotaryAngles& all, const at::Tensor& places) {
  if (!all.cosine.defined()) return {};
  const std::int64_t cells = places.size(0), rows = places.size(1), half = all.cosine.size(4);
  const at::Tensor index =
      places.view({cells, rows, 1, -1, 1}).expand({cells, rows, 1, places.size(2), half});
  const auto taken = [&](const at::Tensor& v) {
    return v.expand({cells, rows, 1, v.size(3), half}).gather(3, index);
  };
  return {taken(all.cosine), taken(all.sine)};
}

at::Tensor rotate(const RotaryAngles& angles, const at::Tensor& x) {
  const std::int64_t half = x.size(3) / 2;
  const at::Tensor y =
      x.contiguous().view({angles.cosine.size(0), -1, x.size(1), x.size(2), x.size(3)});
  const at::Tensor a = y.narrow(-1, 0, half), b = y.narrow(-1, half, half);
  return at::cat({a * angles.cosine - b * angles.sine, b * angles.cosine + a * angles.sine}, -1)
      .view(x.sizes());
}

Heads split_heads(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles) {
  const std::int64_t tokens = qkv.size(2), width = qkv.size(3) / 3;
  const std::vector<at::Tensor> parts =  // unbound, so that their gradient is one stack
      (qkv.scalar_type() == at::kBFloat16 ? qkv.to(at::kFloat) : qkv)
          .view({-1, tokens, 3, o.heads, width / o.heads})
          .unbind(2);
  Heads out{parts[0].transpose(1, 2), parts[1].transpose(1, 2), parts[2].transpose(1, 2)};
  if (angles.cosine.defined()) {
    out.q = rotate(angles, out.q);
    out.k = rotate(angles, out.k);
  }
  return out;
}

at::Tensor join_heads(const at::Tensor& mixed, const at::Tensor& like) {
  return mixed.transpose(1, 2).reshape(
      {like.size(0), like.size(1), like.size(2), mixed.size(1) * mixed.size(3)});
}

namespace {

/// Bytes of scores that stay in a cache of the host from one operation to the next.
constexpr std::int64_t kScoreBytes = std::int64_t{1} << 20;

at::Tensor scores_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& hidden) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  return at::softmax(with_hidden(at::matmul(q * scale, k.transpose(2, 3)), hidden), -1);
}

/// The same some sequences at a time, and with the same bits: each head of each sequence is a
/// product of its own. Two sequences at least, since single products are computed otherwise.
at::Tensor attention_in_parts(const Heads& heads, const at::Tensor& hidden) {
  const at::Tensor& q = heads.q;
  const std::int64_t rows = q.size(0), bytes = q.size(1) * q.size(2) * q.size(2) * 4;
  const std::int64_t fit =
      std::max<std::int64_t>(kScoreBytes / std::max<std::int64_t>(bytes, 1), 2);
  const bool own = hidden.dim() == 4 && hidden.size(0) == rows;
  const at::Tensor out = at::empty_like(q);
  for (std::int64_t first = 0, count = 0; first < rows; first += count) {
    count = rows - first < 2 * fit ? rows - first : fit;
    const at::Tensor seen = own ? hidden.narrow(0, first, count) : hidden;
    const at::Tensor weights =
        scores_of(q.narrow(0, first, count), heads.k.narrow(0, first, count), seen);
    out.narrow(0, first, count).copy_(at::matmul(weights, heads.v.narrow(0, first, count)));
  }
  return out;
}

}  // namespace

at::Tensor written_attention(const ModelOptions& o, const Heads& heads, const at::Tensor& hidden,
                             std::int64_t layer, const ForwardContext& context) {
  const at::Tensor& q = heads.q;
  const std::int64_t tokens = q.size(2);
  const bool plain = !context.training && context.attention == nullptr;
  if (plain && !at::GradMode::is_enabled() && q.is_cpu()) {
    return attention_in_parts(heads, hidden);
  }
  const at::Tensor weights = scores_of(q, heads.k, hidden);
  if (context.attention != nullptr) (*context.attention)(weights);
  const at::Tensor kept = dropout(weights.view({o.cells, -1, q.size(1) * tokens, tokens}),
                                  o.dropout_attention, "attention", layer, context)
                              .view(weights.sizes());
  return at::matmul(kept, heads.v);
}

bool explicit_attention(const ModelOptions& o) {
  if (o.attention != AttentionKind::Auto) return o.attention == AttentionKind::Explicit;
  return std::ranges::any_of(o.dropout_attention, [](double p) { return p > 0; });
}

RotaryTables rotary_tables(const ModelOptions& o, std::int64_t tokens,
                           const at::TensorOptions& like, const RotaryAngles& own) {
  if (o.positions != Positions::Rope) return {};
  if (own.cosine.defined()) return {own.cosine.squeeze(2), own.sine.squeeze(2)};
  const RotaryAngles angles = rotary_angles(o, 0, tokens, at::empty({0}, like));
  return {angles.cosine.view({o.cells, tokens, -1}), angles.sine.view({o.cells, tokens, -1})};
}

at::Tensor causal_attention(const ModelOptions& o, const at::Tensor& input, std::int64_t layer,
                            const ForwardContext& context, const RotaryAngles& own) {
  const at::Tensor qkv = input.scalar_type() == at::kBFloat16 ? input.to(at::kFloat) : input;
  const std::int64_t tokens = qkv.size(2);
  const bool by_hand = context.composed || explicit_attention(o);
  if (!by_hand && packed_attention_serves(qkv, o.heads)) {
    return packed_attention(qkv, o.heads, rotary_tables(o, tokens, qkv.options(), own));
  }
  RotaryAngles angles = own;
  if (o.positions == Positions::Rope && !own.cosine.defined()) {
    angles = rotary_angles(o, 0, tokens, qkv);
  }
  const Heads heads = split_heads(o, qkv, angles);
  if (!by_hand) {
    return join_heads(at::scaled_dot_product_attention(heads.q, heads.k, heads.v, {}, 0.0, true),
                      qkv);
  }
  const at::Tensor future =
      at::ones({tokens, tokens}, qkv.options().dtype(at::kBool).requires_grad(false)).triu(1);
  return join_heads(written_attention(o, heads, future, layer, context), qkv);
}

}  // namespace depthgrid
