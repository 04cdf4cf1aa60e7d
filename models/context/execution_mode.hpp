#pragma once

#include <optional>
#include <string_view>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

/// One execution mode of a family, and whether its predictions are causal, as declared: the audit
/// requires causality of every mode that does not declare otherwise.
struct DeclaredMode {
  std::string_view name;  ///< as on the store's axis eval_mode: "student_calibrated"
  ExecutionMode mode = ExecutionMode::Dense;
  std::optional<Decider> decider = {};  ///< of students
  bool causal = true;
  std::string_view reason = {};  ///< why it is not causal; empty otherwise
};

}  // namespace depthgrid
