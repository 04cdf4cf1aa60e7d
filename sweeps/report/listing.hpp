#pragma once

#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/cells/summary.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// The cells of a sweep for `status` and `results`, in the order of the file.
struct Listing {
  std::string sweep;
  std::string store;    // directory as the user named it
  bool planned = true;  // the store holds this plan; false: no run has begun there
  std::string metric;
  std::string goal;  // minimize or maximize
  /// How evaluation divides a split: into "disjoint" windows, into overlapping "sliding" ones
  /// (eval.stride less than data.seq_len: more context, lower losses), or "mixed" if cells differ.
  std::string eval_windows = "disjoint";
  /// What eval_loss and final_loss are the mean of: "the whole split", "64 windows", ...
  std::string periodic_windows, final_windows;
  std::vector<CellSummary> cells;
  std::vector<bool> baseline;  // one flag per cell
};

/// The cells of a store. @throws StorageError if it has no plan yet.
Listing list_store(const Store& store, const std::string& name);

/// The cells of a plan, all as pending: for their names and the leaves that vary.
Listing list_plan(const StoredPlan& plan, const std::string& store);

/// The cells of a sweep without a store: all pending. @param store  where it was looked for.
Listing list_sweep(const Sweep& sweep, const std::string& store);

/// "store results/tiny", or that no run has begun there and what to do.
std::string store_text(const Listing& listing);

/// True for completed and diverged: nothing failed, and nothing is left for `run` to do.
bool is_result(CellStatus status);
/// True for failed, oom and cancelled.
bool is_failure(CellStatus status);

}  // namespace depthgrid
