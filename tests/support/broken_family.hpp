#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "core/train/optimizer/arena.hpp"
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
  MaskRemoved,        // attention sees the whole window
  MaskOffByOne,       // position t sees t + 1
  PooledGate,         // the mean of the sequence opens a gate, undeclared
  BatchRouting,       // tokens compete with those of other sequences
  SortedTopk,         // declared: the k best tokens of the sequence, in order of time
  UnsortedTopk,       // the same, but attention sees them in order of their scores
  UndeclaredTopk,     // SortedTopk without the declaration
  CrossTokenNorm,     // mean and variance over all tokens of the sequence
  CountedTwice,       // a parameter that another one already is
  DeadParameter,      // a parameter that nothing reads
  DeclaredDead,       // the same, declared
  NanAtStart,         // a parameter that starts as NaN
  LooksAheadAlways,   // evaluation itself is declared to look ahead
  OnePosition,        // only the last but two sees the next one
  EveryEighth,        // t = 7 mod 8 sees t + 1
  FaintScale,         // all numbers are scaled by 1 + 1e-8 times the mean of their sequence
  RecordedOnly,       // a pass with a graph sees the mean of its sequence
  GradientOnly,       // the value is exact, but its gradient is that of the sequence's mean
  SecondCell,         // the second of several cells sees the mean of its sequence
  CellsMix,           // in wide models each cell sees the mean of the cells
  ManyRows,           // in a batch of more than eight a sequence sees the mean of the batch
  LateStep,           // training sees the mean of its sequence after step 400
  MixedOnly,          // so do factors in bf16
  RouterMean,         // SortedTopk, with a faint mean of the sequence in the router's logit
  RouterNext,         // SortedTopk, with a faint next token in the score
  FrozenNorm,         // the norm's scale gets no gradient from the fifth layer on
  HalfFrozenMatrix,   // half of a matrix gets none
  IgnoredScale,       // steps have length 1, whatever the residual scale
  IgnoredLateScale,   // the same in the last layer
  Reversed,           // the positions of a window are in reverse order
  WideGradientOnly,   // GradientOnly in models wider than 16
  EvenStep,           // training sees the mean of its sequence at every second step
  LateRowsFirst,      // from the third row on the first position sees the second
  PooledOnceLearned,  // evaluation sees the mean times a weight that starts at 0
  RowsOfOneKind,      // the fourth, eighth, ... row sees the next but one
  ManyCells,          // evaluation of more than eight cells sees the mean of the cells
  LateFrozenNorm,     // the norms' scales get no gradient after step 400
  WideHalfFrozen,     // HalfFrozenMatrix in models wider than 16
  ReversedInUse,      // Reversed in evaluation only
  DenseStart,         // the dense start of training sees the mean of its sequence
  Deaf                // numbers so large that the tokens are lost in them
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
                              defect_ == Defect::UndeclaredTopk || faint_router());
    at::Tensor dx = routes ? routed(w, x, at.step) : block(w, x, at.step);
    dx = leaking(dx, x);
    const bool reversed =
        defect_ == Defect::Reversed || (defect_ == Defect::ReversedInUse && !context_.training);
    if (reversed && at.step == 0) {
      const at::Tensor here = extra_.narrow(1, 0, x.size(2));
      dx = dx + (here.flip(1) - here).unsqueeze(1);
    }
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
  bool faint_router() const {
    return defect_ == Defect::RouterMean || defect_ == Defect::RouterNext;
  }

  /// The increment with what else it sees, if anything.
  at::Tensor leaking(const at::Tensor& dx, const at::Tensor& x) const {
    const at::Tensor mean = x.mean(2, true), next = x.roll(-1, 2);
    const auto only = [&](const at::Tensor& places) {  // (T) bool
      return next * places.to(x.scalar_type()).view({1, 1, -1, 1});
    };
    const at::Tensor t = at::arange(x.size(2));
    switch (defect_) {
      case Defect::OnePosition:
        return dx + only(t.eq(x.size(2) - 3));
      case Defect::EveryEighth:
        return dx + only(t.remainder(8).eq(7).logical_and(t.lt(x.size(2) - 1)));
      case Defect::FaintScale:
        return dx * (1 + 1e-8 * mean);
      case Defect::RecordedOnly:
        return at::GradMode::is_enabled() ? dx + 0.05 * mean : dx;
      case Defect::GradientOnly:
        return dx + (mean - mean.detach());
      case Defect::SecondCell: {
        const at::Tensor second = at::arange(x.size(0)).eq(1).view({-1, 1, 1, 1});
        return dx + 0.1 * mean * second.to(x.scalar_type());
      }
      case Defect::CellsMix:
        return x.size(3) > 16 && x.size(0) > 1 ? dx + 0.01 * x.mean(0, true) : dx;
      case Defect::ManyRows:
        return x.size(1) > 8 ? dx + 0.01 * x.mean(1, true) : dx;
      case Defect::LateStep:
        return context_.training && context_.step > 400 ? dx + 0.05 * mean : dx;
      case Defect::MixedOnly:
        return layers_[0].qkv.weight.scalar_type() == at::kBFloat16 ? dx + 0.1 * mean : dx;
      case Defect::WideGradientOnly:
        return x.size(3) > 16 ? dx + (mean - mean.detach()) : dx;
      case Defect::EvenStep:
        return context_.training && context_.step % 2 == 0 ? dx + 0.05 * mean : dx;
      case Defect::LateRowsFirst: {
        const at::Tensor row =
            at::arange(x.size(1)) + context_.first_row;  // its place in the batch
        return dx + only(t.eq(0)) * row.ge(2).to(x.scalar_type()).view({1, -1, 1, 1});
      }
      case Defect::PooledOnceLearned:
        return context_.training ? dx
                                 : dx + mean * layers_[0].norm1.shift.unsqueeze(1).unsqueeze(1);
      case Defect::RowsOfOneKind: {
        const at::Tensor row = at::arange(x.size(1)) + context_.first_row;
        const at::Tensor here =
            row.remainder(4).eq(3).logical_and(at::arange(x.size(1)).lt(x.size(1) - 2));
        return dx + 0.1 * x.roll(-2, 1) * here.to(x.scalar_type()).view({1, -1, 1, 1});
      }
      case Defect::DenseStart: {
        const std::vector<std::int64_t>& dense = options_.tdt.dense_steps;
        const bool early = !dense.empty() && context_.step <= dense.front();
        return context_.training && early ? dx + 0.05 * mean : dx;
      }
      case Defect::Deaf:
        return dx + 1e18;
      case Defect::ManyCells:
        return !context_.training && x.size(0) > 8 ? dx + 0.01 * x.mean(0, true) : dx;
      default:
        return dx;
    }
  }

  at::Tensor block(const BlockWeights& w, const at::Tensor& x, std::int64_t step = 0) const {
    const std::int64_t ahead = defect_ == Defect::MaskRemoved    ? x.size(2)
                               : defect_ == Defect::MaskOffByOne ? 1
                                                                 : 0;
    NormWeights first = w.norm1;
    const bool late = defect_ == Defect::LateFrozenNorm && context_.step > 400;
    if ((defect_ == Defect::FrozenNorm && step >= 4) || late) first.scale = first.scale.detach();
    at::Tensor n1 = apply_norm(options_, options_.norm, first, x);
    if (defect_ == Defect::CrossTokenNorm) {
      const at::Tensor mean = x.mean({2, 3}, true);
      n1 = (x - mean) * ((x - mean).square().mean({2, 3}, true) + 1e-5).rsqrt();
      n1 = n1 * w.norm1.scale.unsqueeze(1).unsqueeze(1) + w.norm1.shift.unsqueeze(1).unsqueeze(1);
    }
    const at::Tensor attention = apply(w.out, one_head(apply(w.qkv, n1), ahead));
    const at::Tensor n2 = apply_norm(options_, options_.norm, w.norm2, x);
    AffineMap up = w.up;
    if (defect_ == Defect::HalfFrozenMatrix ||
        (defect_ == Defect::WideHalfFrozen && x.size(3) > 16)) {
      const std::int64_t half = up.weight.size(1) / 2, rest = up.weight.size(1) - half;
      up.weight =
          at::cat({up.weight.narrow(1, 0, half).detach(), up.weight.narrow(1, half, rest)}, 1);
    }
    return attention + apply(w.down, activate(options_.activation, apply(up, n2)));
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
      if (defect_ == Defect::RouterMean) seen.logits = score + 1e-6 * score.mean(2, true);
      if (defect_ == Defect::RouterNext) seen.score = score + 1e-3 * score.roll(-1, 2);
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
    const bool reverses = defect == Defect::Reversed || defect == Defect::ReversedInUse;
    if (reverses && dynamic_cast<Arena*>(&source) != nullptr) {
      extra_ = source.parameter({.name = "position.weight",  // the model's own: another view of it
                                 .shape = {o.max_tokens, o.width},
                                 .group = ParameterGroup::Embedding,
                                 .init = {}});
    }
  }

  DepthGrid grid(const ForwardContext& c) const override {
    DepthGrid grid = scale_.grid(options_, c);
    if (defect_ == Defect::IgnoredScale) grid.h = at::ones_like(grid.h);
    if (defect_ == Defect::IgnoredLateScale) {
      const at::Tensor last = grid.h.narrow(1, options_.layers - 1, 1);
      grid.h = at::cat({grid.h.narrow(1, 0, options_.layers - 1), at::ones_like(last)}, 1);
    }
    return grid;
  }
  std::vector<DepthSegment> segments(const ForwardContext& c) const override {
    return euler_run(grid(c), std::make_unique<BrokenField>(options_, c, layers_, defect_, extra_));
  }

  DeclaredMode training_mode() const override {
    DeclaredMode mode = Family::training_mode();
    if (defect_ == Defect::SortedTopk || defect_ == Defect::UnsortedTopk ||
        defect_ == Defect::RouterMean || defect_ == Defect::RouterNext) {
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
