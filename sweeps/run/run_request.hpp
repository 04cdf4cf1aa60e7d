#pragma once

#include <filesystem>
#include <functional>

#include "core/config/sweep.hpp"
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// What `run` and `supervise` have been asked for.
struct RunRequest {
  Sweep sweep;                     // of the file, before its goals (`match:`) are reached
  std::function<Sweep()> planned;  // the same afterwards, from the store
  std::filesystem::path store;
  RunCommand command;  // of one worker

  /// The sweep as it is trained. @throws as matched_sweep()
  Sweep planned_sweep() const { return sweep.goals.empty() ? sweep : planned(); }
};

}  // namespace depthgrid
