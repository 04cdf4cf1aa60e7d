#pragma once

#include <string>
#include <vector>

#include "models/family.hpp"
#include "worker/audit/audit_model.hpp"

namespace depthgrid {

/// One way of executing a family, as the audit runs it, and what the family declares of it.
struct AuditedMode {
  std::string name;        // "training", "evaluation", or a mode of the family
  ForwardContext context;  // seeds are filled in by AuditModel
  bool causal = true;
  std::string reason = {};  // of a mode that is not causal: what looks ahead
};

/// Training, evaluation as a pass does it by itself, and, where a family has several modes of
/// evaluation, each of them. Evaluation by itself must be causal whatever is declared.
std::vector<AuditedMode> audited_modes(const Family& family);

/// The same execution with the masks that one pass over `tokens` has recorded: every layer takes
/// exactly the tokens that it took then.
/// @return nothing if no layer has recorded a mask.
std::optional<ForwardContext> with_held_masks(const AuditModel& model, const at::Tensor& tokens,
                                              const ForwardContext& context);

}  // namespace depthgrid
