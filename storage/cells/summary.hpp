#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/config/value.hpp"
#include "storage/cells/attempt_cost.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// One row of `results` and `status`.
struct CellSummary {
  CellId id;
  std::string alias;
  std::string arm, tag;  // as in StoredCell
  std::int64_t seed = 0;
  ValueMap overrides;
  std::int64_t plan = 1;  // newest plan of the store that has the cell; 0 = none yet
  bool in_plan = true;    // of the plan that is asked for; false: of another plan of the store
  CellStatus status = CellStatus::Pending;
  std::int64_t step = 0;        // optimiser steps done
  std::int64_t steps = 0;       // of the whole training, as planned
  std::int64_t parameters = 0;  // 0 = not known yet
  /// By variable, with the split after a dot: "train_loss" (last step), "eval_loss.valid" (last
  /// evaluation), "final_loss.valid" (whole split, last weights), "train_loss_last50".
  /// Numbers that were not recorded are absent, never NaN.
  std::map<std::string, double> metrics;
  /// What the metrics are of, named likewise: "split_digest.valid", "split_bytes.valid",
  /// "eval_mode_noncausal.dense", "text_rules". Results of releases that did not record these have
  /// none.
  std::map<std::string, double> facts;
  /// How its numbers were computed: variable precision_settings; empty = not recorded.
  std::string settings;
  int attempts = 0;
  AttemptCost cost;     // of all attempts that are recorded
  std::string problem;  // of failed cells: the reason, one line
  std::string host;     // of the newest attempt
  std::string code;     // version of the program of the newest attempt; empty = not recorded
  /// Checks of the audit that say nothing good, in their order: "causality: fail, gradients: off".
  /// Empty if there are none, or nothing is recorded.
  std::string audit;
  /// What is damaged now, and what to do about it, one line; empty if nothing is known to be.
  std::string damage;
  /// Damaged files that attempts have met; what they held was computed again.
  std::int64_t damages_met = 0;
};

/// One summary per cell, in the order of the plan.
///
/// Finished cells are read from `sweep.h5` where it holds their sealed result, else from
/// `result.h5`; unfinished ones from their journals. Whatever is read is checked whole first. Where
/// a result is damaged or gone, the row of `sweep.h5` counts if there is one, and `damage` says so.
/// Takes no lock and changes nothing.
/// @param progress  called with (cells read, cells), before each.
std::vector<CellSummary> summarise(
    const Store& store, const StoredPlan& plan,
    const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace depthgrid
