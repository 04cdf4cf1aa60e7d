#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/plan/growth.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// Everything that `depthgrid plan` shows.
struct PlanReport {
  std::string store;
  std::vector<CellStatus> status;  // one per cell; Pending without a store
  Growth growth = {};              // what the store has of the sweep
  PackingOptions packing;
  CostTable costs;  // may be empty
  std::vector<FusedJob> jobs;
  std::vector<std::string> notes;  // in addition to those of the sweep
  std::string simulation = {};     // text shown in place of the cells; empty = none
  std::string simulation_json = {};
};

/// Whether a run would train cells with these: all without a result, but those of cancelled ones.
std::vector<bool> to_train(const std::vector<CellStatus>& status);

/// Plans what `run` would train.
PlanReport make_plan_report(const Sweep& sweep, std::string store, std::vector<CellStatus> status,
                            const PackingOptions& packing, CostTable costs,
                            std::vector<std::string> notes);

/// What `plan` and `run` say once where cells train in bfloat16 on a CPU that cannot multiply it.
/// @param products  has_bf16_products() of that CPU.
std::optional<std::string> slow_precision(const Sweep& sweep, bool on_cpu, bool products);

/// The text that `depthgrid plan` prints.
std::string plan_text(const Sweep& sweep, const PlanReport& report, Colour colour = Colour::No);

/// The contract `plan --json` of docs/cli.md.
std::string plan_json(const Sweep& sweep, const PlanReport& report);

}  // namespace depthgrid
