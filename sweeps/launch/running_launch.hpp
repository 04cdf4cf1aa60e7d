#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/live/live_event.hpp"

namespace depthgrid {

/// A started launch.
class RunningLaunch {
 public:
  virtual ~RunningLaunch() = default;
  /// Its exit code, or 128 + signal, once it has ended.
  virtual std::optional<int> poll() = 0;
  /// The node to which its end is due; empty if that may be any of several.
  virtual std::string node() { return {}; }
  /// Asks it to write checkpoints and end.
  virtual void ask_to_stop() = 0;
  /// Ends all its processes at once.
  virtual void kill() = 0;
  /// The same of one that hangs, which may first say where.
  virtual void kill_hung() { kill(); }
  /// What its first rank has told since the last call, once it has ended to the last word; a launch
  /// that tells nothing for too long hangs.
  virtual std::vector<LiveEvent> news() = 0;
};

/// Cards, cores and ranks that a launch gets, and where it writes.
struct LaunchTicket {
  const LaunchPlan& plan;
  std::int64_t attempt = 1;
  std::vector<std::string> gpus;  // empty: it trains on the CPU
  std::vector<int> cores;         // of its own; empty: it may use all
  std::filesystem::path folder;   // of the launch
};

}  // namespace depthgrid
