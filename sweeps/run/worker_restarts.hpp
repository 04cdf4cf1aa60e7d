#pragma once

#include <cstdint>
#include <string>

#include "sweeps/launch/failure_class.hpp"
#include "sweeps/run/retry_book.hpp"

namespace depthgrid {

/// How the worker of a plain `run` has ended.
struct WorkerEnd {
  int code = 0;                // exit code, or 128 + signal
  int passed_on = 0;           // first signal that it got by way of `run`; 0 = none
  std::int64_t oom_kills = 0;  // processes that the system killed for their memory meanwhile
  bool began = false;          // this run has begun to train a cell
  bool left = false;           // cells without a result and without a standing failure
  bool progressed = false;     // a result, a report or a checkpoint is new
};

/// When the one worker of a plain `run` is started again: after a fault of its own (SEGV, ABRT,
/// BUS, FPE, ILL), a hang or a fault of the device that it has noticed, or a kill for memory, with
/// the budgets and pauses of a supervised launch. What ends it from outside is somebody's wish;
/// what it ends with in order is its answer.
class WorkerRestarts {
 public:
  explicit WorkerRestarts(RetryOptions retries);

  struct Verdict {
    bool again = false;
    bool used_up = false;                    // it would be started again, but for its budget
    double seconds = 0;                      // to wait before
    LaunchEnd end = LaunchEnd::Done;         // the class
    std::int64_t failures = 0, allowed = 0;  // without progress, of this class
  };
  /// @param now  s on a monotonic clock.
  Verdict ended(const WorkerEnd& worker, double now);

 private:
  RetryBook book_;
};

}  // namespace depthgrid
