#pragma once

#include <span>
#include <string_view>

namespace depthgrid {

/// Properties of a model family that matter outside its own files: options, defaults, checks and
/// costs query a property and never compare names.
struct FamilyFacts {
  std::string_view name;   // `model.family`
  bool plain = false;      // ordinary blocks, one per layer, which may share parameters
  bool timed = false;      // the block depends on depth-time
  bool generated = false;  // networks of depth-time generate its weights
  bool flow = false;       // a flow replaces some layers
  bool skips = false;      // some layers skip tokens
  bool teaches = false;    // a teacher selects them by surprise; a router learns to predict it
  bool predicts = false;   // a router ranks them; a predictor learns to predict the ranking
};

/// Words of `model.family`, in the order of the table.
inline constexpr std::string_view kFamilyWords = "standard time_indexed tong hybrid_ode tdt mod";

/// All families.
std::span<const FamilyFacts> family_facts();

/// Facts of one family; all false for a name that is not in the table.
const FamilyFacts& facts_of(std::string_view family);

}  // namespace depthgrid
