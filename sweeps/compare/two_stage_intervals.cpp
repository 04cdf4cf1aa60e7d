#include "sweeps/compare/two_stage_intervals.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/compare/stage_cells.hpp"
#include "sweeps/compare/training_basis.hpp"

namespace depthgrid {
namespace {

bool in_store(const Listing& listing, std::size_t row, const std::string& store) {
  return listing.cells[row].in_plan && listing.store_of(row) == store;
}

/// The arm of all these cells of a store; empty if they are of several, or of another store.
std::string only_arm(const Listing& listing, const std::vector<std::size_t>& cells,
                     const std::string& store) {
  for (const std::size_t row : cells) {
    const bool same = listing.cells[row].arm == listing.cells[cells.front()].arm;
    if (!same || listing.store_of(row) != store) return {};
  }
  return cells.empty() ? std::string() : listing.cells[cells.front()].arm;
}

/// Whether some cell that the rule is of does not take part.
bool leaves_cells_out(const Listing& listing, const std::string& store,
                      const TwoStageRecord& record, const std::vector<std::size_t>& rows) {
  std::set<std::string> arms = {record.baseline};
  for (const TwoStageContrast& one : record.contrasts) arms.insert(one.arm);
  const std::set<std::int64_t> seeds(record.seeds.begin(), record.seeds.end());
  const std::set<std::size_t> taken(rows.begin(), rows.end());
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const CellSummary& cell = listing.cells[row];
    if (in_store(listing, row, store) && arms.contains(cell.arm) && seeds.contains(cell.seed) &&
        !taken.contains(row)) {
      return true;
    }
  }
  return false;
}

/// Why the question is another one than the rule's; empty if it is the same.
std::string other_question(const Listing& listing, const std::string& store,
                           const TwoStageRecord& record, const TwoStageQuestion& question) {
  std::string why;
  const bool baseline = std::ranges::any_of(question.baseline, [&](std::size_t row) {
    return in_store(listing, row, store) && listing.cells[row].arm == record.baseline;
  });
  if (std::ranges::find(question.metrics, record.metric) == question.metrics.end()) {
    why = "with another metric";
  } else if (!baseline) {
    why = "with another baseline";
  } else if (leaves_cells_out(listing, store, record, question.rows)) {
    why = "where some of these cells are left out";
  } else {
    return {};
  }
  return fmt::format(
      "--until-ci {} is about differences in {} to {} over all its cells: no interval of it is "
      "shown {}",
      record.asked, record.metric, record.baseline, why);
}

/// Why the pairs of an arm cannot be compared, as of the rows of a comparison.
std::string stage_refusal(const Listing& listing, const StageCells& cells,
                          const TwoStageRecord& record, const std::string& arm,
                          std::span<const std::string> allowed_leaves) {
  const EvaluationBasis basis(listing, record.metric);
  for (const std::int64_t seed : record.seeds) {
    if (std::isnan(cells.figure(arm, seed) - cells.figure(record.baseline, seed))) continue;
    const std::size_t mine = *cells.row(arm, seed), theirs = *cells.row(record.baseline, seed);
    BasisMismatch found = basis.mismatch(mine, theirs);
    if (!found) found = training_mismatch(listing, mine, theirs, allowed_leaves);
    if (found) return found.text();
  }
  return {};
}

TwoStageRow interval_row(const StageCells& cells, const TwoStageRecord& record,
                         const std::string& arm) {
  TwoStageRow out;
  out.arm = arm;
  for (const std::string& side : {arm, record.baseline}) {
    for (const std::int64_t seed : record.seeds) {
      const auto row = cells.row(side, seed);
      if (!row) {
        out.absent.push_back(seed);
      } else if (std::isnan(cells.figure(side, seed))) {
        out.missing.push_back(*row);
      }
    }
  }
  std::ranges::sort(out.absent);
  out.absent.erase(std::ranges::unique(out.absent).begin(), out.absent.end());
  const std::vector<double> differences = cells.differences(arm, record.baseline, record.seeds);
  out.pairs = static_cast<std::size_t>(
      std::ranges::count_if(differences, [](double d) { return !std::isnan(d); }));
  if (!out.missing.empty() || !out.absent.empty()) return out;
  out.interval = stein_interval(differences, record.seeds.size(), stein_rule(record));
  return out;
}

TwoStageAnswer answer_of(const Listing& listing, const std::string& store,
                         const TwoStageRecord& record, const TwoStageQuestion& question) {
  TwoStageAnswer out{store, "", record, other_question(listing, store, record, question), {}};
  if (!out.not_shown.empty()) return out;
  std::vector<std::string> allowed_leaves = leaves_of_arms(listing);
  allowed_leaves.insert(allowed_leaves.end(), question.allowed.begin(), question.allowed.end());
  const StageCells cells(listing, store, record.metric);
  for (const TwoStageContrast& one : record.contrasts) {
    TwoStageRow& row = out.rows.emplace_back(interval_row(cells, record, one.arm));
    const auto refused = question.refused.find(one.arm);
    row.refused = refused != question.refused.end()
                      ? refused->second
                      : stage_refusal(listing, cells, record, one.arm, allowed_leaves);
    if (!row.refused.empty()) row.interval = {};
  }
  return out;
}

}  // namespace

TwoStageQuestion two_stage_question(const Listing& listing) {
  TwoStageQuestion out;
  out.metrics = {listing.metric};
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    out.rows.push_back(row);
    if (listing.baseline[row]) out.baseline.push_back(row);
  }
  return out;
}

TwoStageQuestion two_stage_question(const Listing& listing, const Comparison& comparison,
                                    const std::vector<std::size_t>& rows,
                                    const std::vector<std::string>& allowed) {
  TwoStageQuestion out;
  out.metrics = {comparison.metric};
  out.rows = rows;
  out.allowed = allowed;
  for (const EffectTable& table : comparison.effects) {
    if (table.factor != comparison.effects.front().factor || table.factor == "store") continue;
    for (const ComparedRow& row : table.rows) {
      const auto& cells = row.group.cells;
      if (row.group.baseline) out.baseline.insert(out.baseline.end(), cells.begin(), cells.end());
      if (!row.evidence || !row.evidence->pairs.refused || cells.empty()) continue;
      const std::string arm = only_arm(listing, cells, listing.store_of(cells.front()));
      if (!arm.empty() && table.within.empty()) {
        out.refused.emplace(arm, row.evidence->pairs.refused.text());
      }
    }
  }
  return out;
}

TwoStageQuestion two_stage_question(const ArmComparison& comparison,
                                    const std::vector<std::size_t>& rows,
                                    const std::vector<std::string>& metrics,
                                    const std::vector<std::string>& allowed) {
  TwoStageQuestion out;
  out.metrics = metrics;
  out.rows = rows;
  out.allowed = allowed;
  for (const ArmResults& arm : comparison.arms) {
    if (arm.baseline) out.baseline = arm.cells;
  }
  return out;
}

std::vector<TwoStageAnswer> two_stage_answers(const Listing& listing,
                                              const TwoStageQuestion& question) {
  std::vector<std::string> stores = listing.stores;
  if (stores.empty()) stores.push_back(listing.store);
  std::vector<TwoStageAnswer> out;
  for (const std::string& store : stores) {
    if (store.empty()) continue;  // a plan that is in no store
    try {
      if (const auto record = read_two_stage(store)) {
        out.push_back(answer_of(listing, store, *record, question));
      }
    } catch (const StorageError& error) {  // what the cells say does not depend on it
      out.push_back({store, error.what(), {}, "", {}});
    }
  }
  return out;
}

const TwoStageRow* two_stage_row(const Listing& listing, const std::vector<TwoStageAnswer>& answers,
                                 const ComparedGroup& group, const ComparedGroup& baseline) {
  for (const TwoStageAnswer& answer : answers) {
    if (answer.rows.empty()) continue;
    const std::string arm = only_arm(listing, group.cells, answer.store);
    if (arm.empty() || only_arm(listing, baseline.cells, answer.store) != answer.record.baseline) {
      continue;
    }
    const auto at = std::ranges::find(answer.rows, arm, &TwoStageRow::arm);
    if (at != answer.rows.end()) return &*at;
  }
  return nullptr;
}

}  // namespace depthgrid
