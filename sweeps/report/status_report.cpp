#include "sweeps/report/status_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

constexpr std::array kStates = {CellStatus::Completed, CellStatus::Diverged, CellStatus::Running,
                                CellStatus::Pending,   CellStatus::Failed,   CellStatus::Oom,
                                CellStatus::Cancelled};

std::int64_t count(const Listing& listing, CellStatus state, bool newest_plan) {
  return std::ranges::count_if(listing.cells, [&](const CellSummary& cell) {
    return cell.status == state && cell.in_plan == newest_plan;
  });
}

std::int64_t cells_of(const Listing& listing, bool newest_plan) {
  return std::ranges::count(listing.cells, newest_plan, &CellSummary::in_plan);
}

/// Whether a cell needs attention: it failed, diverged, or has a problem or damage to report.
bool is_problem(const CellSummary& cell) {
  return is_failure(cell.status) || cell.status == CellStatus::Diverged || !cell.problem.empty() ||
         !cell.damage.empty();
}

std::string describe(const CellSummary& cell) {
  if (!cell.damage.empty()) {  // why its repair failed, if it did, says more
    return is_failure(cell.status) && !cell.problem.empty()
               ? fmt::format("{} (and before: {})", cell.problem, cell.damage)
               : cell.damage;
  }
  if (!cell.problem.empty()) return cell.problem;
  if (cell.status != CellStatus::Diverged) return "no report; see depthgrid logs";
  const auto loss = cell.metrics.find("train_loss");  // a number that is not finite is absent
  return loss == cell.metrics.end()
             ? fmt::format("not finite at step {}", cell.step)
             : fmt::format("diverged at step {}, training loss {:.6g}; see depthgrid logs",
                           cell.step, loss->second);
}

}  // namespace

std::string status_text(const Listing& listing, Colour colour) {
  std::string out = fmt::format("{}: {} cells, {}\n", listing.sweep, cells_of(listing, true),
                                store_text(listing));
  const bool several = cells_of(listing, false) > 0;
  Table states{{{"state"}, {"cells", Align::Right}}, {}};
  if (several) states.columns.push_back({"of other plans", Align::Right});
  for (const CellStatus state : kStates) {
    const std::int64_t n = count(listing, state, true);
    const std::int64_t earlier = count(listing, state, false);
    if (n + earlier == 0) continue;
    states.rows.push_back({std::string(name_of(state)), std::to_string(n)});
    if (several) states.rows.back().push_back(std::to_string(earlier));
  }
  out += text_of(states, colour);
  const auto begun = std::ranges::count_if(listing.cells, [](const CellSummary& cell) {
    return cell.status == CellStatus::Pending && cell.in_plan && cell.step > 0;
  });
  if (begun > 0) {
    out += fmt::format("{} of the pending cells {} begun; the next depthgrid run goes on with {}\n",
                       begun, begun == 1 ? "has" : "have", begun == 1 ? "it" : "them");
  }
  if (several) {
    out += "cells of other plans stay in the store; depthgrid results --all-plans shows them\n";
  }
  Table problems{{{"cell"}, {"alias"}, {"state"}, {"attempts", Align::Right}, {"problem"}}, {}};
  for (const CellSummary& cell : listing.cells) {
    if (!is_problem(cell)) continue;
    problems.rows.push_back({cell.id, cell.alias, std::string(name_of(cell.status)),
                             std::to_string(cell.attempts), describe(cell)});
  }
  if (!problems.rows.empty()) out += "\nproblems\n" + text_of(problems, colour);
  if (const std::int64_t n = damages_met(listing); n > 0) {
    out += "\n" + damages_text(n) + "; depthgrid logs CELL shows which\n";
  }
  return out;
}

std::string status_json(const Listing& listing, const SweepNumbers* numbers,
                        const std::string& slurm, const std::string& nodes) {
  using Json = nlohmann::ordered_json;
  Json counts = Json::object(), earlier = Json::object();
  for (const CellStatus state : kStates) {
    counts[std::string(name_of(state))] = count(listing, state, true);
    earlier[std::string(name_of(state))] = count(listing, state, false);
  }
  Json problems = Json::array();
  for (const CellSummary& cell : listing.cells) {
    if (!is_problem(cell)) continue;
    problems.push_back({{"id", cell.id},
                        {"alias", cell.alias},
                        {"status", name_of(cell.status)},
                        {"in_plan", cell.in_plan},
                        {"step", cell.step},
                        {"attempts", cell.attempts},
                        {"host", cell.host},
                        {"problem", describe(cell)}});
    if (!cell.damage.empty()) problems.back()["damaged"] = true;
  }
  Json out = {{"schema", 1},
              {"sweep", listing.sweep},
              {"store", listing.store},
              {"planned", listing.planned},
              {"cells", cells_of(listing, true)},
              {"finished", status_code(listing) != ExitCode::Unfinished},
              {"counts", counts},
              {"damages_met", damages_met(listing)},
              {"damaged_plans", listing.plan_damages},
              {"other_plans", earlier},
              {"problems", problems}};
  if (numbers != nullptr) {
    out["cell_steps"] = {{"done", numbers->cell_steps_done}, {"total", numbers->cell_steps}};
    out["activity"] = {{"runs", numbers->runs},
                       {"jobs", numbers->jobs},
                       {"cell_steps_per_second", numbers->rate},
                       {"eta_seconds", numbers->eta()}};
    out["rank_hours"] = {{"used", numbers->used / 3600}, {"lost", numbers->lost / 3600}};
    out["slot_hours"] = {{"total", numbers->slots / 3600}, {"idle", numbers->idle / 3600}};
    out["stopping"] = numbers->stopping;
  }
  if (!slurm.empty()) out["slurm"] = parse_ordered_json(slurm);
  if (!nodes.empty()) out["nodes_left_out"] = parse_ordered_json(nodes);
  return json_text(out, 2) + "\n";
}

ExitCode status_code(const Listing& listing) {
  // Nobody will train what only an earlier plan has, unless somebody is at it.
  const auto ended = [](const CellSummary& c) {
    return is_result(c.status) || is_failure(c.status) ||
           (!c.in_plan && c.status != CellStatus::Running);
  };
  const auto failed = [](const CellSummary& c) {
    return c.in_plan && (is_failure(c.status) || !c.damage.empty());
  };
  if (!std::all_of(listing.cells.begin(), listing.cells.end(), ended)) return ExitCode::Unfinished;
  return std::ranges::any_of(listing.cells, failed) || !listing.plan_damages.empty()
             ? ExitCode::Partial
             : ExitCode::Done;
}

}  // namespace depthgrid
