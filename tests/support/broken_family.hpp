#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "models/blocks/activation.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/residual_scale.hpp"
#include "models/family.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid::testing {

/// What is wrong with a BrokenFamily.
enum class Defect {
  None,
  MaskRemoved,      // attention sees the whole window
  MaskOffByOne,     // position t sees t + 1
  PooledGate,       // the mean of the sequence opens a gate, undeclared
  BatchRouting,     // tokens compete with those of other sequences
  SortedTopk,       // declared: the k best tokens of the sequence, in order of time
  UnsortedTopk,     // the same, but attention sees them in order of their scores
  UndeclaredTopk,   // SortedTopk without the declaration
  CrossTokenNorm,   // mean and variance over all tokens of the sequence
  CountedTwice,     // a parameter that another one already is
  DeadParameter,    // a parameter that nothing reads
  DeclaredDead,     // the same, declared
  NanAtStart,       // a parameter that starts as NaN
  LooksAheadAlways  // evaluation itself is declared to look ahead
};

/// Attention with one head over x (E, B, T, C); a token sees those up to `ahead` places after it.
inline at::Tensor one_head(const at::Tensor& qkv, std::int64_t ahead) {
  const std::int64_t c = qkv.size(3) / 3, t = qkv.size(2);
  const at::Tensor q = qkv.narrow(3, 0, c), k = qkv.narrow(3, c, c), v = qkv.narrow(3, 2 * c, c);
  const at::Tensor hidden = at::ones({t, t}, at::kBool).triu(1 + ahead);
  const at::Tensor scores = at::matmul(q / std::sqrt(static_cast<double>(c)), k.transpose(2, 3))
                                .masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return at::matmul(at::softmax(scores, -1), v);
}

/// L blocks as those of family standard, one head, parallel sublayers, with a defect.
class BrokenField final : public VectorField {
 public:
  BrokenField(const ModelOptions& o, const ForwardContext& c, const std::vector<BlockWeights>& w,
              Defect defect, at::Tensor extra)
      : options_(o), context_(c), layers_(w), defect_(defect), extra_(std::move(extra)) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    const BlockWeights& w = layers_.at(static_cast<std::size_t>(at.step));
    const bool routes =
        context_.training && (defect_ == Defect::SortedTopk || defect_ == Defect::UnsortedTopk ||
                              defect_ == Defect::UndeclaredTopk);
    at::Tensor dx = routes ? routed(w, x, at.step) : block(w, x);
    if (defect_ == Defect::PooledGate) dx = dx * x.mean(2, true).tanh();
    if (defect_ == Defect::BatchRouting) {
      const at::Tensor score = x.sum(3, true);  // (E, B, T, 1), against the mean of the whole batch
      dx = at::where(score.gt(score.mean({1, 2}, true)), dx, at::zeros_like(dx));
    }
    if (defect_ == Defect::NanAtStart || defect_ == Defect::CountedTwice) {
      dx = dx + extra_.unsqueeze(1);
    }
    return {dx, {}};
  }

 private:
  at::Tensor block(const BlockWeights& w, const at::Tensor& x) const {
    const std::int64_t ahead = defect_ == Defect::MaskRemoved    ? x.size(2)
                               : defect_ == Defect::MaskOffByOne ? 1
                                                                 : 0;
    at::Tensor n1 = apply_norm(options_, options_.norm, w.norm1, x);
    if (defect_ == Defect::CrossTokenNorm) {
      const at::Tensor mean = x.mean({2, 3}, true);
      n1 = (x - mean) * ((x - mean).square().mean({2, 3}, true) + 1e-5).rsqrt();
      n1 = n1 * w.norm1.scale.unsqueeze(1).unsqueeze(1) + w.norm1.shift.unsqueeze(1).unsqueeze(1);
    }
    const at::Tensor attention = apply(w.out, one_head(apply(w.qkv, n1), ahead));
    const at::Tensor n2 = apply_norm(options_, options_.norm, w.norm2, x);
    return attention + apply(w.down, activate(options_.activation, apply(w.up, n2)));
  }

  /// Half of the tokens pass through the block, the others get nothing.
  at::Tensor routed(const BlockWeights& w, const at::Tensor& x, std::int64_t step) const {
    const std::int64_t k = (x.size(2) + 1) / 2;
    const at::Tensor score = x.detach().sum(3);  // (E, B, T)
    at::Tensor chosen = std::get<1>(at::topk(score, k, 2));
    if (context_.execution) {
      const at::Tensor mask = context_.execution->forced.select(3, step);
      chosen = std::get<1>(at::topk(
          score.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity()), k, 2));
    }
    if (context_.routing != nullptr) {
      LayerRouting seen;
      seen.layer = step;
      seen.executed =
          at::zeros_like(score, at::kBool).scatter(2, chosen, at::ones_like(chosen, at::kBool));
      context_.routing->layers.push_back(seen);
    }
    if (defect_ != Defect::UnsortedTopk) chosen = std::get<0>(chosen.sort(2));
    const at::Tensor index = chosen.unsqueeze(3).expand({-1, -1, -1, x.size(3)});
    const at::Tensor y = block(w, at::gather(x, 2, index));
    return at::zeros_like(x).scatter(2, index, y);
  }

  const ModelOptions& options_;
  const ForwardContext& context_;
  const std::vector<BlockWeights>& layers_;
  Defect defect_;
  at::Tensor extra_;
};

class BrokenFamily final : public Family {
 public:
  BrokenFamily(ParameterSource& source, const ModelOptions& o, Defect defect)
      : options_(o), defect_(defect), scale_(source, o) {
    for (std::int64_t i = 0; i < o.layers; ++i) {
      layers_.push_back(block_parameters(source, o, "layers." + std::to_string(i)));
    }
    const bool nan = defect == Defect::NanAtStart;
    if (nan || defect == Defect::CountedTwice || defect == Defect::DeadParameter ||
        defect == Defect::DeclaredDead) {
      extra_ = source.parameter(
          {.name = "extra.bias",
           .shape = {1, o.width},
           .init = {.fill = {nan ? std::numeric_limits<double>::quiet_NaN() : 0.0}}});
    }
  }

  DepthGrid grid(const ForwardContext& c) const override { return scale_.grid(options_, c); }
  std::vector<DepthSegment> segments(const ForwardContext& c) const override {
    return euler_run(grid(c), std::make_unique<BrokenField>(options_, c, layers_, defect_, extra_));
  }

  DeclaredMode training_mode() const override {
    DeclaredMode mode = Family::training_mode();
    if (defect_ == Defect::SortedTopk || defect_ == Defect::UnsortedTopk) {
      mode.causal = false;
      mode.reason = "the k best tokens of the sequence";
    }
    return mode;
  }
  std::vector<DeclaredMode> modes() const override {
    std::vector<DeclaredMode> modes = Family::modes();
    modes.front().causal = defect_ != Defect::LooksAheadAlways;
    return modes;
  }
  std::vector<DeadParameter> dead_parameters() const override {
    if (defect_ != Defect::DeclaredDead) return {};
    return {{"extra.bias", "kept for old files"}};
  }

 private:
  const ModelOptions& options_;
  Defect defect_;
  ResidualScale scale_;
  std::vector<BlockWeights> layers_;
  at::Tensor extra_;  // (E, 1, C)
};

inline FamilyBuilder broken_family(Defect defect) {
  return [defect](ParameterSource& source, const ModelOptions& o) {
    return std::make_unique<BrokenFamily>(source, o, defect);
  };
}

}  // namespace depthgrid::testing
