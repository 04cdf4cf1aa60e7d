#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/grouped.hpp"
#include "core/config/start_name.hpp"
#include "sweeps/plan/plan_report.hpp"
#include "sweeps/plan/team_size.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

std::string parameters(const CostTable& costs, const std::string& structure) {
  const StructureCost* const cost = known_cost(costs, structure);
  return cost == nullptr ? "-" : grouped(cost->parameters);
}

/// Jobs that differ only in their cells: one line of the table.
struct JobLine {
  std::vector<std::string> texts;  // cells, ranks, parameters, time, memory and reason of each job
  std::vector<const FusedJob*> jobs;
};

std::vector<JobLine> job_lines(const PlanReport& report) {
  std::vector<JobLine> out;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const FusedJob& job : report.jobs) {
    std::vector<std::string> texts = {
        std::to_string(job.cells.size()),        std::to_string(job.ranks),
        parameters(report.costs, job.structure), short_seconds(job.predicted_seconds),
        short_bytes(job.predicted_bytes),        job.why};
    const auto [at, fresh] = known.emplace(texts, out.size());
    if (fresh) out.push_back({std::move(texts), {}});
    out[at->second].jobs.push_back(&job);
  }
  return out;
}

/// "hidden=64,s0", "hidden=64,s0 … hidden=64,s4": the first and the last in the order of the file.
std::string first_and_last(const Sweep& sweep, const JobLine& line) {
  std::vector<std::size_t> rows;
  for (const FusedJob* job : line.jobs)
    rows.insert(rows.end(), job->cells.begin(), job->cells.end());
  const auto [first, last] = std::ranges::minmax_element(rows);
  const std::string& alias = sweep.cells[*first].alias;
  return rows.size() == 1 ? alias
                          : alias + (rows.size() == 2 ? ", " : " … ") + sweep.cells[*last].alias;
}

/// One line for all jobs that are equal but for their cells.
Table job_table(const Sweep& sweep, const PlanReport& report) {
  Table table = titled_table(
      {"job", ">cells/job", ">ranks", ">parameters", ">time/job", ">memory/job", "cells", "why"});
  for (const JobLine& line : job_lines(report)) {
    std::vector<std::string>& row = table.rows.emplace_back(line.texts);
    row.insert(row.end() - 1, first_and_last(sweep, line));
    const std::size_t n = line.jobs.size();
    row.insert(row.begin(), n == 1 ? line.jobs.front()->id : fmt::format("{} jobs", n));
  }
  return table;
}

Table structure_table(const Sweep& sweep, const CostTable& costs) {
  std::map<std::string, std::size_t> counts;
  for (const CellPlan& cell : sweep.cells) ++counts[cell.structure];
  Table table = titled_table({"structure", ">cells", ">parameters", ">FLOPs/token", ">memory/cell",
                              ">time/step", ">fused at most", ">rank of time features"});
  for (const CellPlan* cell : first_of_each_structure(sweep.cells)) {
    const std::string& key = cell->structure;
    const StructureCost* const cost = known_cost(costs, key);
    if (cost == nullptr) continue;
    const StructureCost& c = *cost;
    std::string flops = fmt::format("{:.4g}", c.flops_per_token);
    if (const double again = c.recomputed_flops_per_token; again > 0) {
      flops += fmt::format(" and {:.4g} again", again);
    }
    table.rows.push_back({key, std::to_string(counts[key]), grouped(c.parameters), flops,
                          short_bytes(c.bytes_per_cell), short_seconds(c.seconds_per_cell_step),
                          std::to_string(c.max_fused),
                          c.time_feature_rank < 0 ? "-" : std::to_string(c.time_feature_rank)});
  }
  return table;
}

/// Probes of each structure, with their share of the time of the training's steps.
Table probe_table(const Sweep& sweep, const CostTable& costs) {
  Table table =
      titled_table({"structure", "probe", ">times", ">time each", ">of training", ">stored/cell"});
  for (const CellPlan* cell : first_of_each_structure(sweep.cells)) {
    const StructureCost* const cost = known_cost(costs, cell->structure);
    if (cost == nullptr) continue;
    const double training = cell->config.real("train.steps") * cost->seconds_per_cell_step;
    for (const ProbeCost& probe : cost->probes) {
      const double share = static_cast<double>(probe.measurements) * probe.seconds / training;
      table.rows.push_back({cell->structure, probe.name, std::to_string(probe.measurements),
                            short_seconds(probe.seconds),
                            training > 0 ? fmt::format("{:.1f} %", 100 * share) : "-",
                            short_bytes(stored_bytes(probe))});
    }
  }
  return table;
}

/// "phase_a,s0", "file 0123456789ab", "-".
std::string start_text(const CellConfig& config, const std::map<CellId, const CellPlan*>& known) {
  const auto cell = start_cell(config);
  if (cell) return known.contains(*cell) ? known.at(*cell)->alias : *cell;
  const std::string files = start_identity(config);
  constexpr std::size_t kPrefix = 5;  // "file:"
  return files.empty() ? "-" : "file " + files.substr(kPrefix, 12);
}

Table cell_table(const Sweep& sweep, const PlanReport& report) {
  std::map<std::size_t, const FusedJob*> job_of;
  for (const FusedJob& job : report.jobs) {
    for (const std::size_t row : job.cells) job_of[row] = &job;
  }
  std::map<CellId, const CellPlan*> known;
  bool starts = false;
  for (const CellPlan& cell : sweep.cells) {
    known[cell.id] = &cell;
    starts = starts || !start_identity(cell.config).empty();
  }
  Table table = titled_table({"cell", "alias", "status", ">parameters", "job"});
  if (starts) table.columns.push_back({"starts from"});
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const CellPlan& cell = sweep.cells[row];
    table.rows.push_back({cell.id, cell.alias + (cell.baseline ? " *" : ""),
                          std::string(name_of(report.status[row])),
                          parameters(report.costs, cell.structure),
                          job_of.contains(row) ? job_of[row]->id : "-"});
    if (starts) table.rows.back().push_back(start_text(cell.config, known));
  }
  return table;
}

}  // namespace

std::vector<bool> to_train(const std::vector<CellStatus>& status) {
  std::vector<bool> out;
  for (const CellStatus s : status) out.push_back(!is_result(s) && s != CellStatus::Cancelled);
  return out;
}

PlanReport make_plan_report(const Sweep& sweep, std::string store, std::vector<CellStatus> status,
                            const PackingOptions& packing, CostTable costs,
                            std::vector<std::string> notes) {
  if (const auto cancelled = std::ranges::count(status, CellStatus::Cancelled); cancelled > 0) {
    notes.push_back(
        fmt::format("{} cancelled cell{} left out; depthgrid retry makes {} pending again",
                    cancelled, cancelled == 1 ? " is" : "s are", cancelled == 1 ? "it" : "them"));
  }
  PlanReport report;
  report.jobs = plan_jobs(sweep.cells, to_train(status), packing, costs);
  report.store = std::move(store);
  report.status = std::move(status);
  report.packing = packing;
  report.costs = std::move(costs);
  report.notes = std::move(notes);
  const bool open_end = std::ranges::any_of(
      sweep.cells, [](const CellPlan& c) { return c.config.null("eval.final_windows"); });
  if (open_end && !report.jobs.empty() && !report.costs.empty()) {
    report.notes.push_back(
        "times leave out the final evaluation over whole splits, whose size only the corpus knows "
        "(eval.final_windows bounds it)");
  }
  std::int64_t most = 1;
  for (const FusedJob& job : report.jobs) most = std::max(most, job.ranks);
  if (packing.auto_ranks && most > 1) {
    report.notes.push_back(
        fmt::format("resources.ranks_per_job is auto: jobs have up to {} ranks, each doubling at "
                    "{:.0f} % of the ideal speed; under one mpirun all teams have as many",
                    most, 100 * kTeamEfficiency));
  }
  return report;
}

std::optional<std::string> slow_precision(const Sweep& sweep, bool on_cpu, bool products) {
  const bool halves = std::ranges::any_of(
      sweep.cells, [](const CellPlan& c) { return c.config.word("train.precision") == "bf16"; });
  if (!on_cpu || products || !halves) return std::nullopt;
  return "train.precision is bf16, and this processor has no instructions for products of bfloat16 "
         "(AVX512_BF16, AMX): set train.precision: fp32, which is several times as fast here "
         "(docs/performance.md, \"Instruction sets\")";
}

std::string plan_text(const Sweep& sweep, const PlanReport& report, Colour colour) {
  const auto done = std::count_if(report.status.begin(), report.status.end(), is_result);
  const double seconds = predicted_makespan(report.jobs, report.packing.ranks());
  std::string out = fmt::format("{}: {} cells, {} done, {} jobs for {} {}, store {}\n", sweep.name,
                                sweep.cells.size(), done, report.jobs.size(), report.packing.teams,
                                report.packing.teams == 1 ? "team" : "teams", report.store);
  if (!report.jobs.empty() && !std::isnan(seconds)) {
    out += fmt::format("predicted time: {}\n", short_seconds(seconds));
  }
  const Growth& growth = report.growth;
  if (growth.done + growth.in_progress + growth.absent > 0) out += growth_text(growth) + "\n";
  const std::vector<std::string> leaves = separating_leaves(sweep.cells);
  if (!leaves.empty()) {
    out += fmt::format("cells that differ in {} are not fused with each other\n",
                       fmt::join(leaves, ", "));
  }
  for (const MatchedWidth& width : sweep.matched) {
    out += "match: " + matched_text(width) + (width.sealed ? ", from the plan of the store" : "") +
           "\n";
  }
  if (!report.jobs.empty()) out += "\n" + text_of(job_table(sweep, report), colour);
  const Table structures = structure_table(sweep, report.costs);
  if (!structures.rows.empty()) out += "\n" + text_of(structures, colour);
  const Table probes = probe_table(sweep, report.costs);
  if (!probes.rows.empty()) out += "\n" + text_of(probes, colour);
  out += "\n" + (report.simulation.empty() ? text_of(cell_table(sweep, report), colour)
                                           : report.simulation);
  for (const std::string& note : sweep.notes) out += "note: " + note + "\n";
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  return out;
}

}  // namespace depthgrid
