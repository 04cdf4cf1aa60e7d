#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// How far the gradient of a flow by its adjoint is from the one of its discrete steps:
/// |g - g'| / |g| over the flow's parameters together, on this text, in evaluation mode.
/// @param arena   the parameters of `model`.
/// @param tokens  (E, B, T); each predicts its successor in `targets`, (E, B, T).
/// @return (E) double; NaN where the flow gets no gradient, 0 without a flow.
at::Tensor adjoint_error(const Model& model, const Arena& arena, const at::Tensor& tokens,
                         const at::Tensor& targets);

/// How far the two states that reversible Heun carries have drifted apart at the end of the flow:
/// |x - y| / |x|, of the order of the step's error: it does not say how well steps are undone.
/// @return (E) double; NaN if the flow has another method. Source: Kidger et al. (2021), arXiv
/// 2105.13493, section 3.
at::Tensor reversible_defect(const Model& model, const at::Tensor& tokens);

/// How well the flow's steps are undone: undone_error() of its first state, in evaluation mode.
/// @return (E) double; NaN if the flow's method cannot be reversed.
at::Tensor reversible_error(const Model& model, const at::Tensor& tokens);

/// What the regularisers spectral_norm and log_norm take for Σ h ‖J‖₂ and Σ h μ₂(J) over the steps,
/// in evaluation mode, mean over these sequences; (E) double each, undefined without the
/// regulariser. @param iterations  of Lanczos in each step.
struct NormEstimates {
  at::Tensor spectral, log;
};
NormEstimates norm_estimates(const Model& model, const at::Tensor& tokens, std::int64_t iterations);

}  // namespace depthgrid
