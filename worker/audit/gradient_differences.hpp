#pragma once

#include <cstdint>
#include <string>

#include "worker/audit/audit_models.hpp"

namespace depthgrid {

/// Autograd against central differences of the loss, in float64.
struct GradientError {
  double worst = 0;          // relative
  std::string parameter;     // of which it is
  std::int64_t tensors = 0;  // compared
};

/// Compares, tensor by tensor, the derivative along a random direction with a central difference.
/// A term of the loss that autograd does not let reach a tensor is left out there: it is stopped on
/// purpose. Masks and stopped values are held, so that the loss is the function that is
/// differentiated.
/// @param model  one cell, in float64.
GradientError differences_by_tensor(AuditModel& model, const Batch& batch);

/// Whether a model of the structure's own size in float64 is within its memory and operations.
bool fits_in_float64(const AuditModels& models);

/// The same at the structure's own size, on a few tokens, along one direction for each term of the
/// loss in which all tensors have an equal share; where that fails, tensor by tensor.
GradientError differences_at_size(const AuditModels& models);

}  // namespace depthgrid
