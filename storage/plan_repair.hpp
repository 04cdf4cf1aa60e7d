#pragma once

#include <string>
#include <vector>

#include "storage/store.hpp"

namespace depthgrid {

/// Writes plans that are damaged or gone anew, from the sweep files that the store keeps beside
/// them (sweep-1.yaml, ..., of the newest sweep.yaml); the damaged ones are quarantined. So a run
/// gets all plans back, and finds the results of their cells by the ids, which do not change. For
/// who is about to publish a plan.
/// @return  what was done, or why it could not be: one line for each such plan.
/// @throws  StorageError (CantCreate).
std::vector<std::string> repair_plans(const Store& store);

}  // namespace depthgrid
