#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/cells/cell_history.hpp"

namespace depthgrid {

/// A series over probe_step and layer that follows from two measurements, not from one.
struct MaskChurn {
  std::string_view variable;    // "routing_churn"
  std::vector<double> numbers;  // (rows, layers)
};

/// How much the recorded masks of each layer have changed since the measurement before that has
/// masks: 1 - |A ∩ B| / |A ∪ B| over the tokens of all sequences that are kept; NaN for the first
/// measurement, for layers without masks, and where both select nothing. It is made from recorded
/// rows, so that it does not depend on where an attempt was interrupted.
/// @param rows  of the kind "probe". @param axes  with the length of `layer`.
/// @return nothing for rows without masks.
std::vector<MaskChurn> mask_churns(const MergedRows& rows, const std::vector<RowAxis>& axes);

/// Whether mask_churns() makes the variable.
bool is_mask_churn(std::string_view variable);

}  // namespace depthgrid
