#include "worker/audit/step_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

namespace depthgrid {
namespace {

constexpr double kClipFloor = 1e-6;
constexpr double kLeastAverageWeight = 0.01;

/// (E, 1) of a rate by cell and group.
at::Tensor of_group(const std::vector<double>& rates, ParameterGroup group) {
  std::vector<double> out;
  for (std::size_t i = static_cast<std::size_t>(group); i < rates.size();
       i += kParameterGroupCount) {
    out.push_back(rates[i]);
  }
  return at::tensor(out, at::kDouble).unsqueeze(1);
}

at::Tensor by_cell(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).unsqueeze(1);
}

/// Rate of a step, relative to the peak: constant, or a cosine, after a linear warm-up.
double factor_of(const ScheduleOptions& s, std::int64_t step) {
  const auto t = static_cast<double>(step), w = static_cast<double>(s.warmup_steps);
  if (t <= w) return t / w;
  if (s.kind == ScheduleKind::Constant) return 1;
  const double q = std::min(1.0, (t - w) / (static_cast<double>(s.steps) - w));
  return s.final_ratio + (1 - s.final_ratio) * (1 + std::cos(std::numbers::pi * q)) / 2;
}

bool moves(const ParameterSlot& slot, const TrainOptions& options) {
  return !slot.spec.average && !options.frozen[static_cast<std::size_t>(slot.spec.group)];
}

}  // namespace

bool StepReference::knows(const std::string& optimizer) {
  return optimizer == "adam" || optimizer == "adamw";
}

StepReference::StepReference(const ParameterLayout& layout, const TrainOptions& options)
    : layout_(layout), options_(options) {}

at::Tensor StepReference::clipped(const at::Tensor& gradients) const {
  const auto part = [](const at::Tensor& all, const ParameterSlot& slot) {
    return all.narrow(1, slot.offset, slot.count);
  };
  const auto by_itself = [&](const ParameterSlot& slot) {
    return options_.clip_scope.by_itself(static_cast<std::size_t>(slot.spec.group));
  };
  const at::Tensor limit = by_cell(options_.clip);
  at::Tensor whole = at::zeros_like(limit);
  std::array<at::Tensor, kParameterGroupCount> groups;
  groups.fill(at::Tensor());
  for (const ParameterSlot& slot : layout_.slots()) {
    if (!moves(slot, options_)) continue;
    const at::Tensor squares = part(gradients, slot).square().sum(1, true);
    at::Tensor& group = groups[static_cast<std::size_t>(slot.spec.group)];
    group = group.defined() ? group + squares : squares;
    if (!by_itself(slot)) whole = whole + squares;
  }
  at::Tensor out = gradients.clone();
  for (const ParameterSlot& slot : layout_.slots()) {
    if (!moves(slot, options_)) continue;
    const at::Tensor squares =
        by_itself(slot) ? groups[static_cast<std::size_t>(slot.spec.group)] : whole;
    const at::Tensor factor = limit / (squares.sqrt() + kClipFloor);
    part(out, slot).mul_(at::minimum(factor, at::ones_like(factor)));
  }
  return out;
}

at::Tensor StepReference::step(const at::Tensor& values, const at::Tensor& gradients,
                               std::int64_t step) {
  if (!first_.defined()) first_ = at::zeros_like(values);
  if (!second_.defined()) second_ = at::zeros_like(values);
  const at::Tensor all = clipped(gradients);
  const at::Tensor beta1 = by_cell(options_.scalars[0]), beta2 = by_cell(options_.scalars[1]),
                   eps = by_cell(options_.scalars[2]);
  std::vector<double> factors;
  for (const ScheduleOptions& s : options_.schedule) factors.push_back(factor_of(s, step));
  const bool decoupled = options_.optimizer == "adamw";
  const auto t = static_cast<double>(step);
  at::Tensor out = values.clone();
  for (const ParameterSlot& slot : layout_.slots()) {
    const auto part = [&](const at::Tensor& x) { return x.narrow(1, slot.offset, slot.count); };
    if (slot.spec.average) {
      const double weight = std::max(kLeastAverageWeight, 1 / t);
      part(out).add_((part(gradients) - part(values)) * weight);
    }
    if (!moves(slot, options_)) continue;
    const at::Tensor lr = of_group(options_.lr, slot.spec.group) * by_cell(factors),
                     decay = of_group(options_.weight_decay, slot.spec.group);
    at::Tensor g = part(all);
    if (!decoupled) g = g + decay * part(values);
    part(first_).copy_(beta1 * part(first_) + (1 - beta1) * g);
    part(second_).copy_(beta2 * part(second_) + (1 - beta2) * g * g);
    const at::Tensor mean = part(first_) / (1 - beta1.pow(t));
    const at::Tensor size = (part(second_) / (1 - beta2.pow(t))).sqrt() + eps;
    if (decoupled) part(out).mul_(1 - lr * decay);
    part(out).sub_(lr * mean / size);
  }
  return out;
}

}  // namespace depthgrid
