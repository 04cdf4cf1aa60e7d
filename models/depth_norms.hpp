#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/stepper.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// What the regularisers of a Jacobian name, measured: J = ∂F/∂H of the field at the beginning of
/// each step, h the step's length, sums over the steps, mean over sequences; (E) double, host.
struct JacobianNorms {
  at::Tensor spectral;   // Σ h ‖J‖₂
  at::Tensor log;        // Σ h μ₂(J), the largest eigenvalue of (J + Jᵀ)/2
  at::Tensor frobenius;  // Σ h ‖J‖²_F by the size of the state
};

/// Which of them are wanted; the others are left undefined.
struct JacobianNormChoice {
  bool spectral = true, log = true, frobenius = true;
};

/// Of one solve. The first two by 30 steps of Lanczos, the third by 16 products J ε with the same
/// signs for every cell: its standard error is at most √2 ‖JᵀJ‖_F/4 for one sequence.
/// @param field  composed of operations that autograd differentiates twice.
/// @param x      (E, B, T, C) at its beginning. @param starts  (E, rows ≥ T, C): where the
///               directions of ‖J‖₂ and μ₂ are looked for first.
JacobianNorms jacobian_norms(const Stepper& method, const VectorField& field, const DepthGrid& grid,
                             const at::Tensor& x, const Control& u, const at::Tensor& starts,
                             JacobianNormChoice wanted = {});

/// Of the part of a model's depth that regularisers are of, or could be of: its flow, or all its
/// layers, each with h = 1 if it adds what its block makes; on this text, in evaluation mode.
/// @param tokens  (E, B, T).
JacobianNorms jacobian_norms(const Model& model, const at::Tensor& tokens,
                             JacobianNormChoice wanted = {});

/// ‖∂H/∂u‖_F by the root of the size of H, the state before the readout's norm, at the model's own
/// signal or u = 0, by one product with the Jacobian for each axis; mean over sequences. The
/// secants of control_smoothness have this root mean square, for small δ and normal draws.
/// @return (E) double, host; undefined for a model whose states no signal enters.
at::Tensor control_slope(const Model& model, const at::Tensor& tokens);

}  // namespace depthgrid
