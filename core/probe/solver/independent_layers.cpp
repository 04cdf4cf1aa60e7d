#include "core/probe/solver/independent_layers.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>

#include "core/base/nan.hpp"
#include "core/cells/cell_rng.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/rk_step.hpp"
#include "core/depth/tableau.hpp"

namespace depthgrid {
namespace {

constexpr int kFineSteps = 8;  // of rk4 within a layer: errors of 1e-8 of the displacement
constexpr int kSpeedTrials = 12;

at::Tensor square(std::int64_t width, std::int64_t layer, const char* name,
                  const at::Tensor& like) {
  const at::Tensor drawn = at::empty({1, width, width}, at::kDouble);
  fill_normal(drawn, {0}, {.stream = stream_id(name), .step = layer});
  return (drawn[0] / std::sqrt(static_cast<double>(width))).to(like.device());
}

/// One layer alone, for all depth-times.
class OneLayer final : public VectorField {
 public:
  OneLayer(const IndependentLayers& all, double time) : all_(all), time_(time) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    return all_.evaluate(x, {at::full_like(at.t, time_), at.h, at.step}, u);
  }

 private:
  const IndependentLayers& all_;
  double time_;
};

}  // namespace

IndependentLayers::IndependentLayers(std::int64_t layers, const at::Tensor& like)
    : layers_(layers), speed_(static_cast<std::size_t>(like.size(0)), 1.0) {
  for (std::int64_t i = 0; i < layers; ++i) {
    in_.push_back(square(like.size(3), i, "probe/independent_layers/in", like));
    out_.push_back(square(like.size(3), i, "probe/independent_layers/out", like));
  }
}

FieldValue IndependentLayers::evaluate(const at::Tensor& x, const DepthPoint& at,
                                       const Control& /*u*/) const {
  const at::Tensor times = at.t.to(at::kCPU, at::kDouble);
  std::vector<at::Tensor> cells;
  for (std::int64_t e = 0; e < x.size(0); ++e) {  // cell by cell: bits must not depend on E
    const double place = times[e].item<double>() * static_cast<double>(layers_);
    const auto i = static_cast<std::size_t>(std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::floor(place + 1e-9)), 0, layers_ - 1));
    const at::Tensor rows = x[e].contiguous().view({-1, x.size(3)});
    const at::Tensor unit = rows / (rows.pow(2).mean(-1, true) + 1e-12).sqrt();
    const at::Tensor f = at::matmul(at::matmul(unit, in_[i]).tanh(), out_[i]);
    cells.push_back((f * speed_[static_cast<std::size_t>(e)]).view(x[e].sizes()));
  }
  return {at::stack(cells), {}};
}

at::Tensor IndependentLayers::solve(const at::Tensor& x) const {
  at::Tensor state = x;
  const at::Tensor h =
      at::full({x.size(0)}, 1.0 / static_cast<double>(layers_ * kFineSteps), x.options());
  for (std::int64_t i = 0; i < layers_; ++i) {
    const OneLayer field(*this, (static_cast<double>(i) + 0.5) / static_cast<double>(layers_));
    for (int j = 0; j < kFineSteps; ++j) {
      state = rk_step(kRk4, field, state, {h, h, 0}, h, {}).x;
    }
  }
  return state;
}

void IndependentLayers::match(const at::Tensor& x, const std::vector<double>& displacement) {
  for (int trial = 0; trial < kSpeedTrials; ++trial) {
    const at::Tensor moved = solve(x) - x;
    bool near = true;
    for (std::size_t e = 0; e < speed_.size(); ++e) {
      const double ratio =
          displacement[e] / moved[static_cast<std::int64_t>(e)].contiguous().norm().item<double>();
      if (std::abs(ratio - 1) <= 0.01) continue;  // it keeps its speed whatever the others need
      const bool can = std::isfinite(ratio) && ratio > 0 && trial + 1 < kSpeedTrials;
      speed_[e] = can ? speed_[e] * ratio : kNaN;
      near = near && !can;
    }
    if (near) return;
  }
}

}  // namespace depthgrid
