#pragma once

#include <ATen/core/Tensor.h>

#include "models/model.hpp"

namespace depthgrid {

/// The regulariser control_smoothness, before its weight: with S = ‖H(u + δe) − H(u)‖/(δ √N) of
/// each sequence, e a normal draw of the axes and N the size of a state, relu(low − S)² + relu(S −
/// high)², which is S² without a band. The secant of ‖∂H/∂u · e‖/√N, H the state before the
/// readout's norm.
///
/// Without a signal u is 0, which costs a further pass where a map's bias makes that differ from no
/// signal (`model.control.neutral: bias`).
/// A band, since without one the least penalty is a signal that moves nothing.
/// @param tokens   (E, B, T). @param context  of the training pass that gave the states.
/// @param states   (E, B, T, C) of that pass. @return (E) sum over sequences, times T.
at::Tensor control_secant(const Model& model, const at::Tensor& tokens,
                          const ForwardContext& context, const at::Tensor& states);

}  // namespace depthgrid
