#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/clock.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/budget.hpp"
#include "sweeps/report/slot_record.hpp"

namespace depthgrid {

/// On the first rank of a run without a supervisor: stops it, as a signal would, when a leaf
/// `budget.*` is used up. Looks once a minute, or when one can be used up, from a thread of its
/// own.
class BudgetGuard {
 public:
  /// Looks once before this returns. @param ranks  of the run. @param stop  called once, with the
  /// reason. All outlive this. @throws StorageError if the store cannot be read.
  BudgetGuard(const Sweep& sweep, const Store& store, int ranks,
              std::function<void(const std::string& why)> stop);
  ~BudgetGuard();
  BudgetGuard(const BudgetGuard&) = delete;
  BudgetGuard& operator=(const BudgetGuard&) = delete;

 private:
  bool look();
  void keep() noexcept;
  void watch();

  const Sweep& sweep_;
  const Store& store_;
  double ranks_;
  std::function<void(const std::string&)> stop_;
  Stopwatch clock_;
  SlotRecord record_;
  BudgetMeter meter_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace depthgrid
