#pragma once

#include <optional>
#include <string>

#include "core/base/processes.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/budget.hpp"
#include "sweeps/report/slot_record.hpp"

namespace depthgrid {

/// What is used at one time.
struct SlotUse {
  double slots = 0;  // that launches may have
  double busy = 0;   // of these, with a launch on them
  double ranks = 0;  // at work: their time counts for budget.gpu_hours
};

/// What one run of a sweep uses while it is at work, reported by its record in the store, and the
/// budgets that are used up by it. Time comes from outside: s, monotonic.
class UseCount {
 public:
  /// @param cards  its slots are GPUs. `sweep` and `store` outlive this.
  /// @throws StorageError if there is a budget and the store cannot be read.
  UseCount(const Sweep& sweep, const Store& store, bool cards, double now,
           const Processes& processes = real_processes());

  /// Counts the time since the last call. @param use  during that time.
  void count(double now, const SlotUse& use);

  /// Writes the record, if the last one is a minute old. @param at_once  a younger one, too.
  void keep(bool at_once);

  /// Why a budget is used up by what is counted; nothing before and after that is first seen. The
  /// store is measured once a minute.
  std::optional<std::string> spent_now();
  bool spent() const noexcept { return spent_; }

 private:
  const CellConfig& run_;
  const Store& store_;
  double made_;                     // by the caller's clock
  double kept_ = 0, measured_ = 0;  // s of what is counted: of the record, of the store's size
  double rank_seconds_ = 0;         // of this run
  SlotRecord record_;
  std::optional<BudgetUse> before_;  // of earlier runs; its bytes: when last measured
  bool spent_ = false;
};

}  // namespace depthgrid
