#include "sweeps/plan/job_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/config/facts/gathered_execution.hpp"
#include "core/config/identity.hpp"
#include "core/config/schema.hpp"
#include "core/config/start_name.hpp"
#include "core/config/text_form.hpp"
#include "sweeps/plan/job_balance.hpp"
#include "sweeps/plan/ready_jobs.hpp"
#include "sweeps/plan/team_size.hpp"

namespace depthgrid {
namespace {

// Cells per job where the structure's costs are unknown.
constexpr std::int64_t kUnknownMaxFused = 8;

/// The most cells that one job of this structure may hold, and the reason.
void set_cap(JobGroup& group, const PackingOptions& options, const StructureCost* cost) {
  if (options.fuse == 1) {
    group.limit = "packing.fuse is off";
    return;
  }
  if (!group.team.why.empty()) {
    group.limit = "its cells need teams";
    return;
  }
  if (options.fuse > 1) {
    group.cap = options.fuse;
    group.limit = fmt::format("packing.fuse is {}", options.fuse);
  } else if (cost == nullptr) {
    group.cap = kUnknownMaxFused;
    group.limit = fmt::format("at most {} while costs are unknown", group.cap);
  } else {
    group.cap = std::max<std::int64_t>(cost->max_fused, 1);
    group.limit = group.cap == 1 ? "fusing gains nothing at this size on this machine"
                                 : fmt::format("fusing more than {} gains nothing here", group.cap);
  }
  if (cost == nullptr || options.memory_bytes <= 0 || cost->bytes_per_cell <= 0) return;
  const double capacity =
      std::floor((options.memory_bytes - cost->fixed_bytes) / cost->bytes_per_cell);
  if (capacity >= static_cast<double>(group.cap)) return;
  group.cap = std::max<std::int64_t>(static_cast<std::int64_t>(capacity), 1);
  group.limit =
      group.cap == 1 ? "memory fits only one cell" : fmt::format("memory fits only {}", group.cap);
}

double nominal_rate(const PackingOptions& options) {
  return options.gpu ? kNominalGpuRate : kNominalCoreRate;
}

/// Operations of the group's longest cell; NaN if those of one are unknown.
double most_operations(const JobGroup& group, const std::vector<JobCell>& cells) {
  double most = 0;
  for (const std::size_t row : group.cells) {
    if (std::isnan(cells[row].operations)) return cells[row].operations;
    most = std::max(most, cells[row].operations);
  }
  return most;
}

std::string reason(const JobGroup& group, std::size_t size, const PackingOptions& options) {
  const std::string structure = group.structure.substr(0, 8) + "…";
  const std::size_t n = group.cells.size();
  const bool cut_by_cap = group.pieces == pieces_for(group, group.cap);
  const std::string split =
      cut_by_cap ? group.limit : fmt::format("balance over {} teams", options.teams);
  if (options.fuse == 1) return "alone: " + group.limit;
  if (n == 1) return "alone: the only cell of structure " + structure;
  if (group.pieces == 1) return fmt::format("fused: {} cells of structure {}", n, structure);
  if (size == 1) {
    return fmt::format("alone: one of {} cells of structure {}: {}", n, structure, split);
  }
  return fmt::format("fused: {} of {} cells of structure {}, split in {}: {}", size, n, structure,
                     group.pieces, split);
}

FusedJob make_job(const JobGroup& group, std::vector<std::size_t> rows,
                  const std::vector<JobCell>& cells, const PackingOptions& options,
                  const StructureCost* cost) {
  FusedJob job;
  std::vector<std::string> ids;
  for (const std::size_t row : rows) {
    ids.push_back(cells[row].id);
    job.predicted_seconds += cells[row].seconds;
    job.depth = std::max(job.depth, cells[row].depth);
  }
  job.id = job_id(ids);
  job.structure = group.structure;
  job.ranks = group.team.ranks;
  job.why = reason(group, rows.size(), options);
  if (!group.team.why.empty()) job.why += "; " + group.team.why;
  job.predicted_seconds = team_seconds(job.predicted_seconds, job.ranks);
  job.predicted_bytes =
      cost == nullptr ? kNaN : rank_bytes(*cost, rows.size(), job.ranks, options.divide);
  job.cells = std::move(rows);
  return job;
}

void set_after(std::vector<FusedJob>& jobs, const std::vector<JobCell>& cells) {
  std::map<CellId, const FusedJob*> job_of;
  for (const FusedJob& job : jobs) {
    for (const std::size_t row : job.cells) job_of[cells[row].id] = &job;
  }
  for (FusedJob& job : jobs) {
    for (const std::size_t row : job.cells) {
      const auto source = job_of.find(cells[row].start);
      if (source == job_of.end()) continue;  // none, or already done
      const std::string& id = source->second->id;
      if (std::ranges::find(job.after, id) == job.after.end()) job.after.push_back(id);
    }
    if (!job.after.empty()) job.why += fmt::format("; after {}", fmt::join(job.after, ", "));
  }
}

/// What of a leaf's value is in the fusion key, in words.
std::string shown_part(std::size_t leaf, const CellConfig& config) {
  const Value& value = config.at(schema()[leaf].path);
  switch (fusion_part(leaf, config)) {
    case FusionPart::Nothing:
      return {};
    case FusionPart::Whole:
      return plain_text(value);
    case FusionPart::Alternative:
      if (value.get_if<ValueList>() != nullptr) return "given";
      if (!value.is_number()) return plain_text(value);
      return value.number() == 0 ? "0" : "a number";
    case FusionPart::TokenCount:
    case FusionPart::InCount:
      return fmt::format("{} gathered tokens", *capacity_count(config.by_path()));
    case FusionPart::ChainLength: {
      const std::int64_t depth = start_depth(config);
      return depth == 0   ? "none"
             : depth == 1 ? "a cell"
                          : fmt::format("a chain of {} cells", depth);
    }
  }
  return {};
}

/// "model.modulation.hidden=32, model.n_layers=6" by structure.
std::map<std::string, std::string> labels(const std::vector<CellPlan>& cells,
                                          const std::vector<std::string>& leaves) {
  std::map<std::string, std::string> out;
  for (const CellPlan& cell : cells) {
    if (leaves.empty() || out.contains(cell.structure)) continue;
    std::vector<std::string> parts;
    for (const std::string& leaf : leaves) {
      if (find_key(cell.overrides, leaf) == nullptr) continue;  // not read by this arm
      parts.push_back(leaf + "=" + shown_part(leaf_index(leaf), cell.config));
    }
    out[cell.structure] = fmt::format("{}", fmt::join(parts, ", "));
  }
  return out;
}

}  // namespace

PackingOptions packing_options(const CellConfig& config, std::int64_t teams) {
  PackingOptions options;
  const bool by_word = config.is_word("packing.fuse");
  options.fuse =
      by_word ? (config.word("packing.fuse") == "off" ? 1 : 0) : config.integer("packing.fuse");
  options.order = config.word("packing.order") == "file" ? JobOrder::File : JobOrder::LongestFirst;
  options.auto_ranks = config.is_word("resources.ranks_per_job");
  if (!options.auto_ranks) options.ranks_per_job = config.integer("resources.ranks_per_job");
  if (!config.null("resources.max_cell_time")) {
    options.cell_seconds =
        static_cast<double>(seconds_of(config.word("resources.max_cell_time")).value());
  }
  options.divide = config.flag("resources.shard_optimizer");
  options.teams = std::max<std::int64_t>(teams, 1);
  options.gpu = config.word("resources.device") == "cuda";
  return options;
}

std::string job_id(const std::vector<std::string>& cells) {
  std::string ids;
  for (const std::string& id : cells) ids += id + '\n';
  return hex(sha256(ids), 12);
}

std::vector<FusedJob> plan_jobs(const std::vector<JobCell>& cells, const std::vector<bool>& wanted,
                                const PackingOptions& options, const CostTable& costs) {
  if (wanted.size() != cells.size()) throw Error("plan_jobs: one flag per cell is needed");
  std::vector<JobGroup> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (!wanted[row]) continue;
    const auto [at, fresh] = known.try_emplace(cells[row].structure, groups.size());
    if (fresh) groups.emplace_back().structure = cells[row].structure;
    groups[at->second].cells.push_back(row);
  }
  const auto cost_of = [&](const JobGroup& group) { return known_cost(costs, group.structure); };
  for (JobGroup& group : groups) {
    const double seconds = cells[group.cells[0]].seconds;
    group.seconds = seconds > 0 ? seconds : 1;  // NaN too
    group.team.ranks = options.ranks_per_job;
    if (options.auto_ranks) {
      const TeamLimits limits{options.ranks(), options.cell_seconds, options.memory_bytes,
                              options.divide};
      const double alone = most_operations(group, cells) / nominal_rate(options);
      group.team = team_size(alone, cost_of(group), limits);
    }
    set_cap(group, options, cost_of(group));
    group.pieces = pieces_for(group, group.cap);
  }
  if (options.fuse == 0) balance(groups, options.teams);

  std::vector<FusedJob> jobs;
  for (const JobGroup& group : groups) {
    const std::size_t n = group.cells.size();
    for (std::size_t p = 0; p < group.pieces; ++p) {
      // A number given by the user is taken literally (8 + 4), otherwise pieces are of equal size.
      const auto cap = static_cast<std::size_t>(group.cap);
      const std::size_t first = options.fuse > 0 ? p * cap : n * p / group.pieces;
      const std::size_t last =
          options.fuse > 0 ? std::min(n, first + cap) : n * (p + 1) / group.pieces;
      std::vector<std::size_t> rows(group.cells.begin() + static_cast<std::ptrdiff_t>(first),
                                    group.cells.begin() + static_cast<std::ptrdiff_t>(last));
      jobs.push_back(make_job(group, std::move(rows), cells, options, cost_of(group)));
    }
  }
  const bool by_time = options.order == JobOrder::LongestFirst;
  const auto seconds = [](const FusedJob& j) {
    return std::isnan(j.predicted_seconds) ? static_cast<double>(j.cells.size())
                                           : j.predicted_seconds;
  };
  std::stable_sort(jobs.begin(), jobs.end(), [&](const FusedJob& a, const FusedJob& b) {
    if (a.depth != b.depth) return a.depth < b.depth;
    if (a.ranks != b.ranks) return a.ranks > b.ranks;
    if (by_time && seconds(a) != seconds(b)) return seconds(a) > seconds(b);
    return a.cells[0] < b.cells[0];
  });
  set_after(jobs, cells);
  return jobs;
}

std::vector<JobCell> job_cells(const std::vector<CellPlan>& cells, const CostTable& costs) {
  std::vector<JobCell> out;
  out.reserve(cells.size());
  for (const CellPlan& cell : cells) {
    const StructureCost* const cost = known_cost(costs, cell.structure);
    out.push_back({cell.id, cell.structure,
                   cost == nullptr ? kNaN : predicted_cell_seconds(cell.config, *cost),
                   start_cell(cell.config).value_or(""), start_depth(cell.config),
                   cost == nullptr ? kNaN : training_operations(cell.config, *cost)});
  }
  return out;
}

std::vector<FusedJob> plan_jobs(const std::vector<CellPlan>& cells, const std::vector<bool>& wanted,
                                const PackingOptions& options, const CostTable& costs) {
  std::vector<FusedJob> jobs = plan_jobs(job_cells(cells, costs), wanted, options, costs);
  const auto label = labels(cells, separating_leaves(cells));
  for (FusedJob& job : jobs) {
    const auto at = label.find(job.structure);
    if (at != label.end() && !at->second.empty()) job.why += " (" + at->second + ")";
  }
  return jobs;
}

std::int64_t equal_teams(const std::vector<CellPlan>& cells, const PackingOptions& options,
                         const CostTable& costs) {
  std::int64_t most = options.ranks_per_job;
  if (!options.auto_ranks) return most;
  const TeamLimits limits{options.ranks(), options.cell_seconds, options.memory_bytes};
  for (const CellPlan& cell : cells) {
    const StructureCost* const cost = known_cost(costs, cell.structure);
    if (cost == nullptr) continue;
    const double alone = training_operations(cell.config, *cost) / nominal_rate(options);
    most = std::max(most, team_size(alone, cost, limits).ranks);
  }
  return most;
}

std::vector<std::string> separating_leaves(const std::vector<CellPlan>& cells) {
  std::set<std::size_t> candidates;
  for (const CellPlan& cell : cells) {
    for (const auto& [path, value] : cell.overrides) {
      const std::size_t at = find_leaf(path);
      if (at == schema().size()) continue;
      if (fusion_part(at, cell.config) != FusionPart::Nothing) candidates.insert(at);
    }
  }
  std::vector<std::string> out;
  for (const std::size_t at : candidates) {
    std::map<std::string, std::string> by_structure;
    std::set<std::string> values;
    bool one_each = true;  // a leaf that varies inside a structure does not distinguish it
    for (const CellPlan& cell : cells) {
      const std::string value = shown_part(at, cell.config);
      const auto [known, fresh] = by_structure.try_emplace(cell.structure, value);
      one_each = one_each && (fresh || known->second == value);
      values.insert(value);
    }
    if (one_each && values.size() > 1) out.emplace_back(schema()[at].path);
  }
  return out;
}

double predicted_makespan(const std::vector<FusedJob>& jobs, std::int64_t ranks) {
  const auto unknown = [](const FusedJob& job) { return std::isnan(job.predicted_seconds); };
  if (std::ranges::any_of(jobs, unknown)) return kNaN;
  ReadyJobs ready(jobs);
  using End = std::pair<double, std::size_t>;  // when which job ends
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  std::int64_t free = std::max<std::int64_t>(ranks, 1);
  double now = 0;
  while (!ready.all_done()) {
    while (const auto job = ready.take(free)) {
      running.emplace(now + jobs[*job].predicted_seconds, *job);
      free -= jobs[*job].ranks;
    }
    if (running.empty()) return kNaN;  // a team is larger than all ranks
    now = running.top().first;
    while (!running.empty() && running.top().first == now) {
      ready.done(running.top().second);
      free += jobs[running.top().second].ranks;
      running.pop();
    }
  }
  return now;
}

}  // namespace depthgrid
