#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/audit/audit_model.hpp"

namespace depthgrid {

/// One mode of executing a family in the audit, and what the family declares about it.
struct AuditedMode {
  std::string name;        // "training", "evaluation", or a mode of the family
  ForwardContext context;  // seeds are filled in by AuditModel
  bool causal = true;
  std::string reason = {};  // if not causal: what looks ahead
};

/// Training, the default evaluation, and, if a family has several evaluation modes, each of them.
/// The default evaluation must be causal whatever is declared.
std::vector<AuditedMode> audited_modes(const Family& family);

/// Gives a calibrated mode thresholds by which each dynamic layer executes half of a random text:
/// at its own share γ a mode may execute everything or nothing, and a decision that is never made
/// cannot be seen to look ahead. Takes a pass for each dynamic layer.
/// @param tokens, rows  T and B of that text.
void steer(const AuditModel& model, AuditedMode& mode, std::int64_t tokens, std::int64_t rows);

/// All modes of a model, steered by eight sequences of `tokens` tokens.
std::vector<AuditedMode> steered_modes(const AuditModel& model, std::int64_t tokens);

/// Fixed thresholds τ, one for each cell, above which the router of a twin executes about half of a
/// random text; those of the model where no mode has such a threshold. @param tokens  T.
std::vector<double> middle_thresholds(const AuditModel& model, std::int64_t tokens);

/// Whether a mode decides by itself which tokens it executes, so that it should execute some and
/// skip others.
bool decides(const AuditedMode& mode);

/// Whether a mode's thresholds were set by steer().
bool steered(const AuditedMode& mode);

/// The same execution with the masks recorded in one pass over `tokens` (E, B, T): every layer
/// executes exactly the tokens that it executed there. Nothing if no layer has recorded a mask.
std::optional<ForwardContext> with_held_masks(const AuditModel& model, const at::Tensor& tokens,
                                              const ForwardContext& context);

}  // namespace depthgrid
