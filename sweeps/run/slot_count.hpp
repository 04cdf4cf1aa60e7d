#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/processes.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/budget.hpp"
#include "sweeps/report/slot_record.hpp"
#include "sweeps/run/supervisor.hpp"

namespace depthgrid {

/// What a supervisor's slots are used for, kept in the store once a minute, and the budgets that
/// are used up by it.
class SlotCount {
 public:
  /// @param cards  its slots are GPUs. `sweep` outlives this.
  SlotCount(const Sweep& sweep, const Store& store, bool cards, const Clock& clock = real_clock(),
            const Processes& processes = real_processes());

  /// From now on it is at work. @param supervisor  lives as long as count() is called.
  void begin(const Supervisor& supervisor);

  /// Counts the time since the last call. @param keep  write it now, too.
  void count(bool keep);

  /// Why a budget is used up; nothing before and after that is first seen.
  std::optional<std::string> spent_now();
  bool spent() const noexcept { return spent_; }

 private:
  std::filesystem::path store_;
  SlotRecord record_;
  std::optional<BudgetMeter> meter_;
  const Clock& clock_;
  double made_;  // s, by the clock
  const Supervisor* at_work_ = nullptr;
  double counted_ = 0, kept_ = 0;  // s
  bool spent_ = false;
};

}  // namespace depthgrid
