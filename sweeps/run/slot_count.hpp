#pragma once

#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/processes.hpp"
#include "sweeps/plan/use_count.hpp"
#include "sweeps/run/supervisor.hpp"

namespace depthgrid {

/// What a supervisor's slots are used for, kept in the store once a minute, and the budgets that
/// are used up by it.
class SlotCount {
 public:
  /// @param cards  its slots are GPUs. `sweep` and `store` outlive this.
  /// @throws StorageError as UseCount
  SlotCount(const Sweep& sweep, const Store& store, bool cards, const Clock& clock = real_clock(),
            const Processes& processes = real_processes())
      : clock_(clock), use_(sweep, store, cards, clock.now(), processes) {}

  /// From now on it is at work. @param supervisor  lives as long as count() is called.
  void begin(const Supervisor& supervisor);

  /// Counts the time since the last call. @param keep  write it now, too.
  void count(bool keep);

  /// As of UseCount.
  std::optional<std::string> spent_now() { return use_.spent_now(); }
  bool spent() const noexcept { return use_.spent(); }

 private:
  const Clock& clock_;
  UseCount use_;
  const Supervisor* at_work_ = nullptr;
};

}  // namespace depthgrid
