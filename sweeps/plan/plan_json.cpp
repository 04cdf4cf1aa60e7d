#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/config/start_name.hpp"
#include "sweeps/plan/budget.hpp"
#include "sweeps/plan/plan_report.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;  // numbers that are not known, NaN, become null

Json cell_json(const CellPlan& cell, CellStatus status) {
  const std::string start = start_identity(cell.config);
  return {{"id", cell.id},
          {"alias", cell.alias},
          {"seed", cell.seed},
          {"baseline", cell.baseline},
          {"structure", cell.structure},
          {"overrides", parse_ordered_json(canonical_json(cell.overrides))},
          {"starts_from", start.empty() ? Json() : Json(start)},
          {"status", name_of(status)}};
}

Json probe_json(const ProbeCost& probe) {
  return {{"name", probe.name},
          {"looks", probe.measurements},
          {"seconds_per_look", probe.seconds},
          {"numbers_per_look", probe.numbers},
          {"file_bytes_per_look", probe.bytes},
          {"stored_bytes", stored_bytes(probe)}};
}

Json structure_json(const StructureCost& cost, const std::vector<CellPlan>& cells) {
  Json groups = Json::object();
  for (const auto& [group, count] : cost.parameter_groups) groups[group] = count;
  Json probes = Json::array();
  for (const ProbeCost& probe : cost.probes) probes.push_back(probe_json(probe));
  return {
      {"structure", cost.structure},
      {"cells", std::ranges::count(cells, cost.structure, &CellPlan::structure)},
      {"parameters", cost.parameters},
      {"parameter_groups", groups},
      {"flops_per_token", cost.flops_per_token},
      {"recomputed_flops_per_token", cost.recomputed_flops_per_token},
      {"bytes_per_cell", cost.bytes_per_cell},
      {"activation_bytes_per_cell", cost.activation_bytes_per_cell},
      {"moment_bytes_per_cell", cost.moment_bytes_per_cell},
      {"seconds_per_cell_step", cost.seconds_per_cell_step},
      {"seconds_per_eval_token", cost.seconds_per_eval_token},
      {"max_fused", cost.max_fused},
      {"depends_on_h", cost.depends_on_h},
      {"probes", probes},
      {"time_feature_rank", cost.time_feature_rank < 0 ? Json() : Json(cost.time_feature_rank)}};
}

Json match_json(const std::vector<MatchedWidth>& widths) {
  Json list = parse_ordered_json(matched_json(widths));
  for (std::size_t i = 0; i < widths.size(); ++i) {
    list[i]["difference"] = widths[i].difference();
    list[i]["sealed"] = widths[i].sealed;
  }
  return list;
}

Json job_json(const FusedJob& job, const Sweep& sweep, const CostTable& costs) {
  Json cells = Json::array();
  for (const std::size_t row : job.cells) cells.push_back(sweep.cells[row].id);
  const StructureCost* const cost = known_cost(costs, job.structure);
  return {{"id", job.id},
          {"cells", cells},
          {"ranks", job.ranks},
          {"structure", job.structure},
          {"parameters_per_cell", cost == nullptr ? Json() : Json(cost->parameters)},
          {"predicted_seconds", job.predicted_seconds},
          {"predicted_bytes", job.predicted_bytes},
          {"after", job.after},
          {"why", job.why}};
}

}  // namespace

std::string plan_json(const Sweep& sweep, const PlanReport& report) {
  Json cells = Json::array();
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    cells.push_back(cell_json(sweep.cells[row], report.status[row]));
  }
  Json structures = Json::array();
  for (const CellPlan* cell : first_of_each_structure(sweep.cells)) {
    const StructureCost* const cost = known_cost(report.costs, cell->structure);
    if (cost != nullptr) structures.push_back(structure_json(*cost, sweep.cells));
  }
  Json jobs = Json::array();
  for (const FusedJob& job : report.jobs) jobs.push_back(job_json(job, sweep, report.costs));
  Json notes = sweep.notes;
  for (const std::string& note : report.notes) notes.push_back(note);
  Json out = {{"schema", 1},
              {"sweep", sweep.name},
              {"id", sweep.id},
              {"file", sweep.file},
              {"store", report.store},
              {"teams", report.packing.teams},
              {"done", std::count_if(report.status.begin(), report.status.end(), is_result)},
              {"in_progress", report.growth.in_progress},
              {"new", report.growth.fresh},
              {"not_in_file", report.growth.absent},
              {"predicted_seconds", predicted_makespan(report.jobs, report.packing.ranks())},
              {"predicted_stored_bytes",
               predicted_bytes_of(sweep.cells, to_train(report.status), report.costs)},
              {"match", match_json(sweep.matched)},
              {"separating_leaves", separating_leaves(sweep.cells)},
              {"cells", cells},
              {"structures", structures},
              {"jobs", jobs},
              {"notes", notes}};
  if (!report.simulation_json.empty())
    out["simulation"] = parse_ordered_json(report.simulation_json);
  return json_text(out, 2) + "\n";
}

}  // namespace depthgrid
