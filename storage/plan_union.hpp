#pragma once

#include <vector>

#include "storage/plan_file.hpp"

namespace depthgrid {

/// True if two plans describe the same sweep: the same cells with the same names in the same order,
/// and the same values of all leaves. When it was planned, by which version of the program and from
/// which text makes no difference; a leaf that one version lacks has its default there.
bool same_plan(const StoredPlan& a, const StoredPlan& b);

/// Several plans of one store as one.
///
/// The first is the newest and gives everything but the cells of the others, which follow its own.
/// Names refer to a plan: where an arm of an earlier plan has the name of an arm of a newer one,
/// but another configuration, its name and those of its cells end in "@n", n being the number of
/// its plan. So no mean over an arm mixes two configurations.
/// @param plans  newest first; no cell in two of them. Not empty.
StoredPlan united(std::vector<StoredPlan> plans);

}  // namespace depthgrid
