#pragma once

#include <optional>
#include <string_view>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

/// One way in which a family can be executed, and whether a prediction may then be called one.
/// Source: the declaration that an audit checks; a mode without declaration must be causal.
struct DeclaredMode {
  std::string_view name;  ///< as on the store's axis eval_mode: "student_calibrated"
  ExecutionMode mode = ExecutionMode::Dense;
  std::optional<Decider> decider = {};  ///< of students
  bool causal = true;
  std::string_view reason = {};  ///< why it is not causal; empty otherwise
};

}  // namespace depthgrid
