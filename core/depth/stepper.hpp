#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "core/depth/tableau.hpp"
#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// What is carried from one step to the next.
struct DepthState {
  at::Tensor x;                         // (E, B, T, C) the hidden state
  std::vector<at::Tensor> memory = {};  // (E, B, T, C) each; empty before the first step
};

/// One step of every cell.
struct DepthStep {
  DepthState after;
  at::Tensor gate;                      // (E, B, T, 1) at the first evaluation, or undefined
  std::vector<at::Tensor> losses = {};  // see FieldValue
  at::Tensor decided = {};              // see FieldValue
};

/// The formula of one step on a fixed grid, without state of its own: a row of the table of
/// methods.
///
/// Where the carried memory is empty a step begins a solve. No step has data-dependent branches or
/// waits for the device.
class Stepper {
 public:
  virtual ~Stepper() = default;

  virtual std::string_view name() const = 0;
  /// Order of convergence.
  virtual int order() const = 0;
  /// Evaluations of the field over `steps` steps, exactly.
  virtual std::int64_t evaluations(std::int64_t steps) const = 0;
  /// Evaluates the field more than once per step, or remembers: a step is not one block.
  bool composed() const { return evaluations(2) != 2; }

  /// Step `i` of a grid. @param decided  what the field chose in this step before, or undefined.
  virtual DepthStep step(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                         const DepthState& before, const Control& u,
                         const at::Tensor& decided = {}) const = 0;

  /// What was carried before step `i`, from what is carried after it; none if the method cannot be
  /// reversed. Equal to what it was up to rounding.
  virtual std::optional<DepthState> before(const VectorField& /*field*/, const DepthGrid& /*grid*/,
                                           std::int64_t /*i*/, const DepthState& /*after*/,
                                           const Control& /*u*/) const {
    return std::nullopt;
  }
  virtual bool reversible() const { return false; }

  /// Its coefficients, if it is a Runge-Kutta method; else null.
  virtual const Tableau* coefficients() const { return nullptr; }

  /// @throws Error if the method cannot run this field or this grid.
  void expect_runs(const VectorField& field, const DepthGrid& grid) const;
};

/// A row of the table of methods: Runge-Kutta methods by their tableau, and
///
///   ab2              x <- x + h/2 (3 f_n - f_{n-1}), the first step by rk4. Source: Hairer,
///   Norsett &
///                    Wanner, Solving ODEs I, III.1.
///   reversible_heun  y' <- 2 x - y + h f(y), x <- x + h/2 (f(y) + f(y')), y = x at the beginning.
///                    Source: Kidger et al. (2021), arXiv 2105.13493, algorithm 1.
///
/// @throws Error naming the known methods.
const Stepper& stepper(std::string_view name);

/// The stepper of a tableau, which must outlive it.
class RungeKutta final : public Stepper {
 public:
  explicit RungeKutta(const Tableau& method) : method_(method) {}

  std::string_view name() const override { return method_.name; }
  int order() const override { return method_.order; }
  std::int64_t evaluations(std::int64_t steps) const override;
  DepthStep step(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                 const DepthState& before, const Control& u,
                 const at::Tensor& decided = {}) const override;
  const Tableau* coefficients() const override { return &method_; }

 private:
  const Tableau& method_;
};

}  // namespace depthgrid
