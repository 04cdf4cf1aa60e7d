#pragma once

#include <ATen/core/Tensor.h>

#include "worker/inspect/inspect_model.hpp"
#include "worker/inspect/inspect_report.hpp"

namespace depthgrid {

/// The first members of the report of any pass over tokens: cell, execution and loss.
/// @param tokens  (1, B, T). @param logits (1, B, T, V)
CheckReport pass_report(const CheckSubject& subject, const CheckCase& c, const CheckExecution& e,
                        const at::Tensor& tokens, const at::Tensor& logits);

}  // namespace depthgrid
