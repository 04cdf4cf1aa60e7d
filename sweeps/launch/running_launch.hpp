#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/live/life_sign.hpp"
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
  /// What is wrong with that node, a word (see NodeError); empty if it is not to blame.
  virtual std::string cause() { return {}; }
  /// Asks it to write checkpoints and end.
  virtual void ask_to_stop() = 0;
  /// Ends all its processes at once.
  virtual void kill() = 0;
  /// The same of one that hangs, which may first say where.
  virtual void kill_hung() { kill(); }
  /// What its first rank has reported since the last call, once it has ended to the last word.
  virtual std::vector<LiveEvent> news() = 0;
  /// The newest sign of life of its first rank; until one comes, that of a start.
  virtual LifeSign life() { return {}; }
};

/// Cards, cores and ranks that a launch gets, and where it writes.
struct LaunchRequest {
  const LaunchPlan& plan;
  std::int64_t attempt = 1;
  std::vector<std::string> gpus;  // empty: it trains on the CPU
  std::vector<int> cores;         // of its own; empty: it may use all
  std::filesystem::path folder;   // of the launch
  bool own_log = true;            // else it writes where this process does
  const Fs* disk = &real_fs();    // of the folder
};

}  // namespace depthgrid
