#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_method.hpp"
#include "core/depth/stepper.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/regulariser_options.hpp"

namespace depthgrid {

class TangentMap;

/// Steps of a method, with the regularisers of the depth as losses of each step.
///
/// With F the field, J = ∂F/∂H at the beginning of a step, h its length, means over tokens and
/// channels, and sums over the steps:
///
///   energy              mean ‖F‖² of every evaluation, F without a factor α of all of it
///   kinetic             ½ mean ‖ΔH‖² / h
///   acceleration        ½ h mean ‖a‖²,  a = (F(H + h F, τ + h) − F(H, τ)) / h under the same draws
///   jacobian_frobenius  h mean ‖Jᵀε‖²,  ε one draw per sequence and pass
///   spectral_norm       h ‖J‖₂ = h uᵀJv,  v the direction of JᵀJ, u = Jv/‖Jv‖
///   log_norm            h relu(vᵀJv − margin)²,  v the direction of (J + Jᵀ)/2
///
/// The last two follow their direction (dominant_direction.hpp) along the depth: a part of the
/// state that carries no gradient. Sums over tokens are returned, which the trainer divides by the
/// tokens of the batch.
/// Source: Finlay et al. (2020), arXiv 2002.02798 (kinetic, Frobenius); Yoshida & Miyato (2017),
/// arXiv 1705.10941 (spectral norm); Söderlind (2006), BIT 46, 631 (logarithmic norm).
class PenalisedStepper final : public Stepper {
 public:
  /// @param method, options, context  must outlive this.
  /// @param starts  (E, rows, C) for each of RegulariserOptions::directed(): where its directions
  ///                begin; running averages of those of the first step.
  PenalisedStepper(const Stepper& method, const RegulariserOptions& options,
                   std::vector<at::Tensor> starts, const ForwardContext& context)
      : method_(method), options_(options), starts_(std::move(starts)), context_(context) {}

  std::string_view name() const override { return method_.name(); }
  int order() const override { return method_.order(); }
  std::int64_t evaluations(std::int64_t steps) const override { return method_.evaluations(steps); }
  bool reversible() const override { return method_.reversible(); }
  const Tableau* coefficients() const override { return method_.coefficients(); }

  /// Its losses are those of the regularisers in the order of their options, and for each direction
  /// one that is zero and whose gradient in its start is the direction of the first step.
  DepthStep step(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                 const DepthState& before, const Control& u,
                 const at::Tensor& decided = {}) const override;

  std::optional<DepthState> before(const VectorField& field, const DepthGrid& grid, std::int64_t i,
                                   const DepthState& after, const Control& u) const override {
    return method_.before(field, grid, i, after, u);
  }

 private:
  const Stepper& method_;
  const RegulariserOptions& options_;
  std::vector<at::Tensor> starts_;
  const ForwardContext& context_;

  /// Directions after those of the step before; those of the first step if there are none.
  void follow(const TangentMap& jacobian, std::int64_t i,
              std::vector<at::Tensor>& directions) const;
  at::Tensor start(std::size_t k, at::IntArrayRef state) const;
  at::Tensor observed(std::size_t k, const at::Tensor& direction) const;
};

/// Regularisers are of the flow, or of the whole depth of a family without one.
/// @param depth  all segments; this is one of them.
bool regularised(const DepthSegment& segment, const std::vector<DepthSegment>& depth);

}  // namespace depthgrid
