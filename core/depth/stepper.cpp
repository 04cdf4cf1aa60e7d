#include "core/depth/stepper.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/rk_step.hpp"

namespace depthgrid {
namespace {

/// h of a step in the dtype of the state. @return (E, 1, 1, 1)
at::Tensor length(const DepthGrid& grid, std::int64_t i, const at::Tensor& x) {
  return per_cell(grid.h.select(1, i).to(x.scalar_type()), x);
}

/// One evaluation a step, from the second step on.
class AdamsBashforth2 final : public Stepper {
 public:
  std::string_view name() const override { return "ab2"; }
  int order() const override { return 2; }
  std::int64_t evaluations(std::int64_t steps) const override {
    return static_cast<std::int64_t>(kRk4.stages) + steps - 1;
  }
  DepthStep step(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                 const DepthState& before, const Control& u,
                 const at::Tensor& /*decided*/) const override {
    const DepthPoint at = grid.at(i);
    const at::Tensor x = field.enter(before.x, at, u);
    if (before.memory.empty()) {
      RkStep first = rk_step(kRk4, field, x, at, grid.span.select(1, i), u);
      return {{std::move(first.x), {std::move(first.k[0])}}, std::move(first.gate)};
    }
    const at::Tensor h = length(grid, i, x);
    FieldValue f = field.evaluate(x, at, u);
    at::Tensor after = at::addcmul(at::addcmul(x, 1.5 * h, f.dx), -0.5 * h, before.memory[0]);
    return {{std::move(after), {std::move(f.dx)}}, std::move(f.gate)};
  }
};

/// Carries y and f(y) beside the state.
class ReversibleHeun final : public Stepper {
 public:
  std::string_view name() const override { return "reversible_heun"; }
  int order() const override { return 2; }
  std::int64_t evaluations(std::int64_t steps) const override { return steps + 1; }
  bool reversible() const override { return true; }

  DepthStep step(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                 const DepthState& before, const Control& u,
                 const at::Tensor& /*decided*/) const override {
    const at::Tensor& x = before.x;
    const at::Tensor h = length(grid, i, x);
    DepthStep out;
    at::Tensor y = x, f;
    if (before.memory.empty()) {
      FieldValue start = field.evaluate(x, node(grid, i), u);
      f = std::move(start.dx);
      out.gate = std::move(start.gate);
    } else {
      y = before.memory[0];
      f = before.memory[1];
    }
    at::Tensor next = at::addcmul(2 * x - y, h, f);
    at::Tensor slope = field.evaluate(next, node(grid, i + 1), u).dx;
    out.after = {at::addcmul(x, 0.5 * h, f + slope), {std::move(next), std::move(slope)}};
    return out;
  }

  std::optional<DepthState> before(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                                   const DepthState& after, const Control& u) const override {
    const at::Tensor h = length(grid, i, after.x);
    const at::Tensor& slope = after.memory[1];
    at::Tensor y = at::addcmul(2 * after.x - after.memory[0], -h, slope);
    at::Tensor f = field.evaluate(y, node(grid, i), u).dx;
    at::Tensor x = at::addcmul(after.x, -0.5 * h, f + slope);
    if (i == 0) return DepthState{std::move(x)};
    return DepthState{std::move(x), {std::move(y), std::move(f)}};
  }

 private:
  /// Where step i begins, as the field is evaluated there: once, as a second stage of the step that
  /// ends there, so that the same draws are taken from both sides.
  static DepthPoint node(const DepthGrid& grid, std::int64_t i) {
    if (i == 0) return grid.at(0);
    DepthPoint end = grid.at(i - 1);
    end.t = end.t + grid.span.select(1, i - 1);
    end.stage = 1;
    return end;
  }
};

const RungeKutta kRungeKutta[] = {RungeKutta(kEuler), RungeKutta(kMidpoint), RungeKutta(kHeun),
                                  RungeKutta(kRk4),   RungeKutta(kRk438),    RungeKutta(kDopri5)};
const AdamsBashforth2 kAb2;
const ReversibleHeun kReversibleHeun;
const Stepper* const kMethods[] = {&kRungeKutta[0], &kRungeKutta[1], &kRungeKutta[2],
                                   &kRungeKutta[3], &kRungeKutta[4], &kRungeKutta[5],
                                   &kAb2,           &kReversibleHeun};

}  // namespace

void Stepper::expect_runs(const VectorField& field, const DepthGrid& grid) const {
  if (!composed()) return;
  if (field.depends_on_h()) {
    throw Error("integrator '" + std::string(name()) +
                "' needs parallel sublayers: a sequential block depends on the step length");
  }
  if (!grid.span.defined()) {
    throw Error("integrator '" + std::string(name()) + "' needs left nodes");
  }
}

std::int64_t RungeKutta::evaluations(std::int64_t steps) const {
  return steps * static_cast<std::int64_t>(method_.needed());
}

DepthStep RungeKutta::step(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                           const DepthState& before, const Control& u,
                           const at::Tensor& decided) const {
  DepthPoint at = grid.at(i);
  at.decided = decided;
  const std::size_t stages = method_.needed();
  const at::Tensor span = stages > 1 ? grid.span.select(1, i) : at::Tensor();
  RkStep out = rk_step(method_, field, field.enter(before.x, at, u), at, span, u, {}, stages);
  return {{std::move(out.x)}, std::move(out.gate), std::move(out.losses), std::move(out.decided)};
}

const Stepper& stepper(std::string_view name) {
  const auto* const row = std::ranges::find(kMethods, name, &Stepper::name);
  if (row != std::end(kMethods)) return **row;
  std::string known;
  for (const Stepper* one : kMethods) {
    known += (known.empty() ? "" : ", ") + std::string(one->name());
  }
  throw Error("unknown integrator '" + std::string(name) + "'; known: " + known);
}

}  // namespace depthgrid
