#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/routing/surprise_gate.hpp"
#include "worker/inspect/inspect_model.hpp"
#include "worker/inspect/inspect_report.hpp"

namespace depthgrid {

/// Masks, thresholds and mode of a case, in the form that a pass needs.
struct CheckExecution {
  bool training = false;
  std::optional<Execution> execution = {};  // none: as the family trains
  bool causal = true;
};

/// @param tokens  (1, B, T): a calibrated decider is calibrated on them unless thresholds are
/// given.
/// @throws UserError if the family has no such mode or decider, or masks or thresholds do not fit.
CheckExecution inspect_execution(const CheckModel& m, const CheckCase& c, const at::Tensor& tokens);

/// A gate's criteria and its value under their names in a report.
std::vector<std::pair<const char*, at::Tensor>> named_signals(const GateSignals& s);
CheckReport scalars_report(const GateScalars& s);

/// The first members of the report of any pass over tokens: cell, execution and loss.
/// @param tokens  (1, B, T). @param logits (1, B, T, V)
CheckReport pass_report(const CheckSubject& subject, const CheckCase& c, const CheckExecution& e,
                        const at::Tensor& tokens, const at::Tensor& logits);

}  // namespace depthgrid
