#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/config/match.hpp"
#include "core/config/sweep.hpp"
#include "storage/cells/summary.hpp"
#include "storage/store.hpp"
#include "sweeps/report/evaluation_leaves.hpp"

namespace depthgrid {

/// The metric that a sweep is about, and which way it is better.
struct StoreQuestion {
  std::size_t store;  // of Listing::stores
  std::string metric, goal;
};

/// The cells of a sweep for `status` and `results`, in the order of the file; then those that only
/// other plans of the store have (CellSummary::in_plan).
struct Listing {
  std::string sweep, description;
  std::string store;    // directory as the user named it
  bool planned = true;  // the store holds this plan; false: no run has begun there
  std::string metric;
  std::string goal;  // minimize or maximize
  std::vector<CellSummary> cells;
  std::vector<bool> baseline;  // one flag per cell
  EvaluationLeaves leaves;     // what each cell's figures are of
  /// Figures per byte that each cell has none of because its tokens lose bytes, by name.
  std::vector<std::vector<std::string>> withheld;
  std::vector<MatchedWidth> matched;      // by `match:`
  std::size_t not_shown = 0;              // cells that keep_plan() has removed
  std::size_t results_not_shown = 0;      // of these, those with a result
  std::vector<std::string> plan_damages;  // see StoredPlan::damages
  /// Corpora of which the store began with tokens by the rules of an earlier release.
  std::map<std::string, int> older_rules;
  ValueMap constant;  // resolved leaves that all cells of the plan share
  /// Of these, sorted, those that no cell sets: their default follows from other leaves.
  std::vector<std::string> derived = {};
  /// Of a union of several stores (listing_union.hpp): their names, and the index of each cell's.
  std::vector<std::string> stores = {};
  std::vector<std::size_t> store_of_cell = {};
  /// Those of the stores that are tables (csv_listing.hpp): there is no folder, there are no
  /// curves, and what a leaf that is no column has been is not known.
  std::vector<std::string> tables = {};
  std::size_t repeated = 0;  // cells that an earlier one of these stores has, too
  /// Those of the stores, no tables, whose question is another than `metric` and `goal`.
  std::vector<StoreQuestion> other_questions = {};

  const std::string& store_of(std::size_t row) const {
    return stores.empty() ? store : stores[store_of_cell[row]];
  }
  bool of_table(std::size_t row) const {
    return !tables.empty() && std::ranges::find(tables, store_of(row)) != tables.end();
  }
};

/// Removes the cells that only other plans have. @return how many.
std::size_t keep_plan(Listing& listing);

/// How many results these are: "3 cells of other plans (2 with a result)"; empty if there are none.
std::string other_plans_text(const Listing& listing);

/// The cells of a store: of its newest plan, or of this sweep if one is given, then those of the
/// other plans. @param progress  as of summarise(). @throws StorageError if it has no plan yet.
Listing list_store(const Store& store, const std::string& name, const Sweep* sweep = nullptr,
                   const std::function<void(std::size_t, std::size_t)>& progress = {});

/// The cells of a plan, all as pending: for their names and the leaves that vary.
Listing list_plan(const StoredPlan& plan, const std::string& store);

/// The cells of a sweep without a store: all pending. @param store  where it was searched for.
Listing list_sweep(const Sweep& sweep, const std::string& store);

/// "store results/tiny", or that no run has begun there and what to do.
std::string store_text(const Listing& listing);

/// True for completed and diverged: nothing failed, and nothing is left for `run` to do.
bool is_result(CellStatus status);
/// True for failed, oom and cancelled.
bool is_failure(CellStatus status);

/// Damaged files that the attempts of all cells have met, and the sentence that says so.
std::int64_t damages_met(const Listing& listing);
std::string damages_text(std::int64_t met);

/// CellSummary::damage where it may be read by others: of each path the name of the file alone.
std::string damage_without_folders(const Listing& listing, std::size_t row);

/// One line per cell whose files are damaged now, at most a few: for stderr.
std::vector<std::string> damage_lines(const Listing& listing);

}  // namespace depthgrid
