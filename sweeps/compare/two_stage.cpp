#include "sweeps/compare/two_stage.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/printable.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/stage_cells.hpp"
#include "sweeps/compare/stein.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

struct WantedWidth {
  double number = 0;
  bool per_cent = false;
};

WantedWidth wanted_width(const std::string& text) {
  WantedWidth out;
  std::string_view digits = text;
  if (digits.ends_with('%')) {
    out.per_cent = true;
    digits.remove_suffix(1);
  }
  out.number = parse_number<double>(digits).value_or(0);
  if (!(out.number > 0) || !std::isfinite(out.number)) {
    throw UserError(ExitCode::Usage,
                    fmt::format("--until-ci {}: the half-width of an interval was expected, in the "
                                "unit of the metric (0.005) or of the baseline's mean (1%)",
                                text));
  }
  return out;
}

std::vector<std::int64_t> seeds_of(const Listing& listing) {
  std::vector<std::int64_t> out;
  for (const CellSummary& cell : listing.cells) {
    if (std::ranges::find(out, cell.seed) == out.end()) out.push_back(cell.seed);
  }
  return out;
}

/// "deep,s3, deep,s4 and 2 more"; empty if no cell has this status.
std::string cells_text(const Listing& listing, std::initializer_list<CellStatus> statuses) {
  std::vector<std::string> names;
  for (const CellSummary& cell : listing.cells) {
    if (std::ranges::find(statuses, cell.status) != statuses.end()) names.push_back(cell.alias);
  }
  constexpr std::size_t kMost = 6;
  const std::size_t more = names.size() - std::min(kMost, names.size());
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Names the cells that have ended without a result, and what helps; throws if there are any.
void refuse_broken_cells(const Listing& listing) {
  const std::string store = shell_word(listing.store);
  std::string out;
  const auto add = [&](std::string_view how, const std::string& cells, const std::string& help) {
    if (!cells.empty()) out += fmt::format("\n  {}: {}: {}", how, cells, help);
  };
  add("diverged", cells_text(listing, {CellStatus::Diverged}),
      "trained again, they diverge again: give their arm another learning rate or clipping "
      "(train.lr, train.clip) in the sweep file, or leave it out");
  add("failed", cells_text(listing, {CellStatus::Failed, CellStatus::Oom}),
      fmt::format("depthgrid retry --failed {}, then the same command", store));
  add("cancelled", cells_text(listing, {CellStatus::Cancelled}),
      fmt::format("depthgrid retry --class cancelled {}, then the same command", store));
  if (out.empty()) return;
  throw UserError(
      ExitCode::Partial,
      "--until-ci: stage one needs every seed of every arm, and there are cells without "
      "a result:" +
          out);
}

}  // namespace

void check_two_stage(const Sweep& sweep, const TwoStageRequest& request) {
  wanted_width(request.half_width);
  std::set<std::int64_t> seeds;
  std::set<std::string> arms;
  bool baseline = false;
  for (const CellPlan& cell : sweep.cells) {
    seeds.insert(cell.config.integer("seed"));
    arms.insert(cell.arm);
    baseline = baseline || cell.baseline;
  }
  const auto refuse = [](const std::string& why) {
    throw UserError(ExitCode::Usage, "--until-ci: " + why);
  };
  if (seeds.size() < kSteinFirstSeeds) {
    refuse(
        fmt::format("stage one needs {} seeds or more, this sweep has {}: seeds: {} in the sweep "
                    "file, or --set seeds={}",
                    kSteinFirstSeeds, seeds.size(), kSteinFirstSeeds, kSteinFirstSeeds));
  }
  if (static_cast<std::int64_t>(seeds.size()) > request.max_seeds) {
    refuse(fmt::format("this sweep has {} seeds, --max-seeds allows {}", seeds.size(),
                       request.max_seeds));
  }
  if (!baseline || arms.size() < 2)
    refuse("a baseline and another arm to compare with it are needed");
  if (sweep.metric.empty()) refuse("the sweep has no metric");
}

void check_same_two_stage(const TwoStageRecord& record, const Sweep& sweep,
                          const TwoStageRequest& request) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(ExitCode::Usage, fmt::format("--until-ci {} --max-seeds {}: {}",
                                                 request.half_width, request.max_seeds, why));
  };
  if (record.asked != request.half_width || record.max_seeds != request.max_seeds ||
      record.metric != sweep.metric || record.baseline != sweep.baseline_arm) {
    refuse(
        fmt::format("stage one of this store has been decided for --until-ci {} --max-seeds {} "
                    "in {} to {}, and is never decided twice: that would choose seeds by what "
                    "they show; use another --store for another question",
                    record.asked, record.max_seeds, record.metric, record.baseline));
  }
  std::vector<std::string> late;
  for (const CellPlan& cell : sweep.cells) {
    const bool known =
        cell.baseline || std::ranges::find(record.contrasts, cell.arm, &TwoStageContrast::arm) !=
                             record.contrasts.end();
    if (!known && std::ranges::find(late, cell.arm) == late.end()) late.push_back(cell.arm);
  }
  if (late.empty()) return;
  refuse(
      fmt::format("stage one of this store has been decided without {}: depthgrid run, or "
                  "submit, without --until-ci trains what is new on the same seeds; another "
                  "--store decides for all arms",
                  fmt::join(late, ", ")));
}

std::optional<TwoStageRecord> decide_two_stage(const Listing& listing,
                                               const TwoStageRequest& request) {
  refuse_broken_cells(listing);
  const auto open = [](const CellSummary& cell) { return cell.status != CellStatus::Completed; };
  if (std::ranges::any_of(listing.cells, open)) return std::nullopt;
  const Comparison comparison = compare_cells(listing, select_cells(listing, {}), {});
  for (const ComparedRow& row : comparison.effects.front().rows) {
    if (!row.evidence) continue;
    if (row.evidence->pairs.refused) {
      throw UserError(ExitCode::BadData,
                      fmt::format("--until-ci: {} cannot be compared with the baseline: {}",
                                  row.group.name, row.evidence->pairs.refused.text()));
    }
    if (row.evidence->shares_measurements()) {
      throw UserError(ExitCode::BadData,
                      fmt::format("--until-ci: the seeds of {} share a measurement of {}, so their "
                                  "spread says nothing of how well it is known: packing: {{fuse: "
                                  "off}} in the sweep file, in a new store, measures each seed for "
                                  "itself",
                                  row.group.name, listing.metric));
    }
  }
  TwoStageRecord out;
  out.metric = listing.metric;
  out.asked = request.half_width;
  out.max_seeds = request.max_seeds;
  out.first_seeds = seeds_of(listing);
  out.baseline = comparison.effects.front().baseline_name;
  const StageCells cells(listing, listing.store, listing.metric);
  const WantedWidth wanted = wanted_width(request.half_width);
  out.half_width = wanted.number;
  if (wanted.per_cent) {
    const auto width = stein_half_width(wanted.number, cells.figures(out.baseline, out.first_seeds),
                                        out.first_seeds.size());
    if (!width) throw UserError(ExitCode::BadData, "--until-ci: the baseline's mean is no number");
    out.half_width = *width;
  }
  std::vector<std::vector<double>> differences;
  for (const ComparedRow& row : comparison.effects.front().rows) {
    if (row.group.baseline) continue;
    out.contrasts.push_back({row.group.name, 0, 0});
    differences.push_back(cells.differences(row.group.name, out.baseline, out.first_seeds));
  }
  const SteinPlan plan = stein_plan(differences, stein_rule(out));
  if (!plan.unusable.empty()) {
    throw UserError(ExitCode::BadData,
                    fmt::format("--until-ci: {} has a difference that is no number",
                                out.contrasts[plan.unusable.front()].arm));
  }
  for (std::size_t i = 0; i < out.contrasts.size(); ++i) {
    out.contrasts[i].sd = plan.contrasts[i].sd;
    out.contrasts[i].half_width = plan.contrasts[i].half_width;
  }
  out.met = plan.met;
  out.seeds = out.first_seeds;
  std::int64_t next = *std::ranges::max_element(out.seeds) + 1;
  while (out.seeds.size() < plan.seeds) out.seeds.push_back(next++);
  return out;
}

}  // namespace depthgrid
