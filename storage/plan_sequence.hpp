#pragma once

#include <cstdint>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

// A store grows by plans: plan.h5, plan-2.h5, ... Each is published once, by link, and never
// changed. The newest says what the sweep is now; the cells of the earlier ones stay.

/// Numbers of all plans, the newest first.
std::vector<std::int64_t> plan_numbers(const Store& store);

/// Number of the newest plan; 0 if there is none.
std::int64_t newest_plan(const Store& store);

/// True when a plan has been published.
bool has_plan(const Store& store);

/// The newest plan that has this cell; 0 if none has.
std::int64_t plan_with(const Store& store, const CellId& cell);

/// Whether each of these cells is in a plan of the store, be it the newest or an earlier one.
bool all_planned(const Store& store, const std::vector<CellId>& cells);

/// Makes this sweep the newest plan of the store, and its text `sweep.yaml`. If it already is,
/// nothing changes. If an earlier plan was the same, the new one is another name of its file.
/// Of several processes at the same moment each gets a number of its own. If one dies between plan
/// and text, the next publishes the text.
/// @return the plan of this sweep alone, with its number and time.
/// @throws StorageError: CantCreate, BadData if the newest plan is damaged.
StoredPlan publish_plan(const Store& store, const Sweep& sweep);

/// The same for a store without a plan. @return false if there is one.
bool publish_first_plan(const Store& store, const Sweep& sweep);

/// All plans of the store as one: the newest, followed by the cells that only earlier plans have.
/// Those plans count if at least one of these cells has been tried. An earlier plan that is damaged
/// or gone is left out and reported in StoredPlan::damages; repair_plans() writes it anew.
/// @throws StorageError: NoInput if there is no plan, BadData if the newest is damaged.
StoredPlan read_plan(const Store& store);

/// The same with this sweep as if it were the newest plan, followed by what it lacks. If it is not
/// the newest, its number is 0.
StoredPlan read_plan(const Store& store, const Sweep& sweep);

}  // namespace depthgrid
