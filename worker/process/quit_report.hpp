#pragma once

#include "worker/process/watchdog.hpp"

namespace depthgrid {

/// On SIGQUIT this process writes one line that says what it is doing (phase, step, time since the
/// last sign of life) and goes on: how to see where a rank hangs. For its life.
class QuitReport {
 public:
  /// One at a time. @param watchdog  outlives this. @param rank  in the world. @param file  a file
  /// descriptor.
  QuitReport(const Watchdog& watchdog, int rank, int file = 2);
  /// The signal has its former effect again.
  ~QuitReport();
  QuitReport(const QuitReport&) = delete;
  QuitReport& operator=(const QuitReport&) = delete;
};

}  // namespace depthgrid
