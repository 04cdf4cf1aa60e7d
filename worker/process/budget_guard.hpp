#pragma once

#include <functional>
#include <string>

#include "sweeps/plan/use_count.hpp"

namespace depthgrid {

/// On the first rank of a run without a supervisor: stops it, as a signal would, when a leaf
/// `budget.*` is used up.
///
/// tick() measures the store's folder once a minute, which may take long, and writes: it is called
/// by a thread that does nothing else. Time comes from outside: s, monotonic.
class BudgetGuard {
 public:
  using Stop = std::function<void(const std::string& why)>;

  /// @param ranks  of the run. @param stop  called once, by tick(). `sweep` and `store` outlive
  /// this. @throws StorageError if the store cannot be read.
  BudgetGuard(const Sweep& sweep, const Store& store, int ranks, double now, Stop stop);

  /// s between two calls of tick().
  static constexpr double kPeriod = 0.5;
  void tick(double now);

  /// Keeps the time of this run for those that follow; after the last tick.
  void end(double now);

 private:
  void count(double now, bool at_once);

  SlotUse at_work_;
  bool keeps_;  // runs that follow count this one's time
  Stop stop_;
  UseCount use_;
};

}  // namespace depthgrid
