#pragma once

#include <span>
#include <string_view>

namespace depthgrid {

/// What must be known of a family of models outside of its own files: options, defaults, checks and
/// costs ask for a fact and never compare names.
struct FamilyFacts {
  std::string_view name;   // `model.family`
  bool plain = false;      // ordinary blocks, one a layer, which may share parameters
  bool timed = false;      // the block sees depth-time
  bool generated = false;  // networks of depth-time make its weights
  bool flow = false;       // a flow stands in for some layers
  bool skips = false;      // some layers skip tokens
  bool teaches = false;    // a teacher chooses them by surprise, and a router learns to foresee it
  bool predicts = false;   // a router ranks them, and a predictor learns to foresee that
};

/// Words of `model.family`, in the order of the table.
inline constexpr std::string_view kFamilyWords = "standard time_indexed tong hybrid_ode tdt mod";

/// All families.
std::span<const FamilyFacts> family_facts();

/// Those of one family; of a name that is not in the table, none.
const FamilyFacts& facts_of(std::string_view family);

}  // namespace depthgrid
