#include "models/decode/decoder.hpp"

#include <limits>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/integrator.hpp"
#include "core/depth/tableau.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/rotary.hpp"

namespace depthgrid {
namespace {

/// BlockField's formula over new tokens alone. Unlike other fields it remembers: each step of a
/// piece is evaluated once, which Euler's method does.
class CachedField final : public VectorField {
 public:
  CachedField(const ModelOptions& o, const std::vector<DecodeBlock>& blocks,
              std::vector<KvCache>& caches, std::vector<at::Tensor>& states, RotaryAngles angles)
      : options_(o),
        blocks_(blocks),
        caches_(caches),
        states_(states),
        angles_(std::move(angles)) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    const ModelOptions& o = options_;
    const auto i = static_cast<std::size_t>(at.step);
    const DecodeBlock& block = blocks_[i];
    const BlockWeights& w = block.weights;
    const at::Tensor attention =
        apply(w.out, attend(apply(w.qkv, apply_norm(o, o.norm, w.norm1, x)), caches_[i]))
            .to(x.scalar_type());
    const at::Tensor y =
        depends_on_h() ? at::addcmul(x, per_cell(at.h.to(x.scalar_type()), x), attention) : x;
    const at::Tensor normed = apply_norm(o, o.norm, w.norm2, y);
    const at::Tensor second = block.ssm
                                  ? mix(*block.ssm, normed, &states_[i])
                                  : apply(w.down, activate(o.activation, apply(w.up, normed)));
    return {attention + second.to(x.scalar_type()), {}};
  }

  bool depends_on_h() const override { return options_.sublayers == Sublayers::Sequential; }

 private:
  /// @param qkv  (E, B, T, 3C). @return (E, B, T, C)
  at::Tensor attend(const at::Tensor& qkv, KvCache& cache) const {
    const std::int64_t tokens = qkv.size(2), width = qkv.size(3) / 3, heads = options_.heads;
    const std::vector<at::Tensor> parts =
        (qkv.scalar_type() == at::kBFloat16 ? qkv.to(at::kFloat) : qkv)
            .view({-1, tokens, 3, heads, width / heads})
            .unbind(2);
    at::Tensor q = parts[0].transpose(1, 2), k = parts[1].transpose(1, 2);
    if (angles_.cosine.defined()) {
      q = rotate(angles_, q);
      k = rotate(angles_, k);
    }
    cache.append(k, parts[2].transpose(1, 2));
    return cache.attend(q).transpose(1, 2).reshape({qkv.size(0), qkv.size(1), tokens, width});
  }

  const ModelOptions& options_;
  const std::vector<DecodeBlock>& blocks_;
  std::vector<KvCache>& caches_;
  std::vector<at::Tensor>& states_;
  RotaryAngles angles_;
};

}  // namespace

Decoder::Decoder(const Model& model) : model_(model) {
  const at::NoGradGuard no_grad;
  grid_ = model.family().grid({});
  blocks_ = model.family().blocks(grid_);
  for (DecodeBlock& block : blocks_) {  // gates are applied here, not with every token
    BlockWeights& w = block.weights;
    for (AffineMap* map : {&w.qkv, &w.out, &w.up, &w.down}) {
      if (map->gate.defined()) *map = {effective_weight(*map), map->bias};
    }
  }
  if (!blocks_.empty() && static_cast<std::int64_t>(blocks_.size()) != grid_.steps()) {
    throw Error("family '" + model.options().family + "' has not a block for every step");
  }
  restart();
}

void Decoder::restart() {
  caches_.assign(blocks_.size(), {});
  states_.assign(blocks_.size(), {});
  tokens_ = at::Tensor();
  length_ = 0;
}

std::int64_t Decoder::room() const {
  const ModelOptions& o = model_.options();
  if (o.positions != Positions::Learned) return std::numeric_limits<std::int64_t>::max();
  return o.max_tokens - length_;
}

at::Tensor Decoder::advance(const at::Tensor& tokens) {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model_.options();
  if (blocks_.empty()) {
    tokens_ = tokens_.defined() ? at::cat({tokens_, tokens}, 2) : tokens;
    length_ = tokens_.size(2);
    return model_.states(tokens_, {}).narrow(2, length_ - tokens.size(2), tokens.size(2));
  }
  const at::Tensor x = model_.embed(tokens, length_);
  RotaryAngles angles;
  if (o.positions == Positions::Rope) angles = rotary_angles(o, length_, tokens.size(2), x);
  const CachedField field(o, blocks_, caches_, states_, std::move(angles));
  at::Tensor out = DepthIntegrator(kEuler).solve(field, grid_, x, {});
  length_ += tokens.size(2);
  return out;
}

std::int64_t Decoder::bytes() const {
  std::int64_t bytes = 0;
  for (const KvCache& cache : caches_) bytes += cache.bytes();
  for (const at::Tensor& state : states_) {
    if (state.defined()) bytes += static_cast<std::int64_t>(state.nbytes());
  }
  if (tokens_.defined()) bytes += static_cast<std::int64_t>(tokens_.nbytes());
  return bytes;
}

}  // namespace depthgrid
