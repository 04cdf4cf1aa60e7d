#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/plan_report.hpp"

namespace depthgrid {

/// Refuses a sweep whose missing cells are predicted to fill the store beyond budget.store_bytes.
/// Without that leaf nothing is predicted. @param store  its folder, which may be absent.
/// @throws UserError (BadConfig)
void refuse_over_budget(const Sweep& sweep, const std::filesystem::path& store);

/// The same of a plan that has been made, and a line for each budget, into its notes.
/// @return why the sweep is refused; empty if it is not.
std::string add_budgets(const Sweep& sweep, const std::filesystem::path& store, PlanReport& report);

}  // namespace depthgrid
