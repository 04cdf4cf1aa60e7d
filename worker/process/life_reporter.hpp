#pragma once

#include <filesystem>

#include "sweeps/live/life_sign.hpp"
#include "sweeps/live/progress_channel.hpp"
#include "worker/process/watchdog.hpp"

namespace depthgrid {

/// Reports what the watchdog has seen to whoever watches this process from outside. Nothing is
/// reported while the work gives no sign of life.
///
/// tick() writes a file, and is called by a thread that does nothing else: a file system that does
/// not answer must not hold the watchdog, and neither a terminal that takes no output nor the
/// measuring of a large store may make a process that works look as if it were hung.
class LifeReporter {
 public:
  /// @param channel  see RunCommand::channel; made if it is not there. `watchdog` outlives this.
  /// @throws StorageError
  LifeReporter(const Watchdog& watchdog, const std::filesystem::path& channel);

  /// s between two calls of tick(): a part of what may pass without a sign. @param hang
  /// RunCommand::hang.
  static double period(double hang);
  void tick();

 private:
  const Watchdog& watchdog_;
  ProgressChannel channel_;
  LifeSign reported_;
};

}  // namespace depthgrid
