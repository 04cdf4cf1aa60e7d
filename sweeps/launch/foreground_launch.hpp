#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/processes.hpp"
#include "core/base/real_fs.hpp"
#include "core/base/scratch_folder.hpp"
#include "sweeps/launch/failure_class.hpp"
#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/launch/launch_process.hpp"
#include "sweeps/live/hang_judge.hpp"

namespace depthgrid {

/// A process of one rank whose output is this process's own, and for which this process waits: the
/// preparation of a sweep, the worker of a plain run, a cell in a new process.
struct ForegroundSpec {
  std::string name;  // in messages: "the preparation"
  /// Words of the worker, which reports its signs of life in the folder `channel`.
  std::function<std::vector<std::string>(const std::string& channel)> command;
  std::map<std::string, std::string> variables{};  // beside this process's, or in their place
  double hang = 0;                                 // RunCommand::hang
};

/// How it has ended.
struct ForegroundEnd {
  int code = 0;                // exit code, or 128 + signal
  bool hung = false;           // it gave no sign of life, and was ended for that
  std::string cause{};         // why this node is to blame, as LaunchRecord::cause
  double seconds = 0;          // it ran
  std::int64_t oom_kills = 0;  // processes that the system killed for their memory meanwhile

  /// Its class.
  LaunchEnd kind() const { return hung ? LaunchEnd::Hang : end_of(code, "", oom_kills); }
};

/// One attempt, from its start: judged by its signs of life whenever tick() is called.
class ForegroundLaunch {
 public:
  /// @throws StartError (BadConfig) if it cannot be started; UserError (CantCreate) without space
  ///         for its channel, which is on this node: there may be no store yet
  /// @param disk  of the channel. All references outlive this.
  explicit ForegroundLaunch(const ForegroundSpec& spec, const Clock& clock = real_clock(),
                            const Processes& processes = real_processes(),
                            const Fs& disk = real_fs());

  /// Its end, once it has ended. One that hangs is ended, but for want of space for its signs of
  /// life. To be called often.
  std::optional<ForegroundEnd> tick();

  void pass_on(int signal) { process_.pass_on(signal); }
  /// Stops its processes, which continue with resume().
  void suspend() { process_.suspend(); }
  void resume() { process_.resume(); }

 private:
  LaunchRequest request() const;

  std::string name_;
  const Clock& clock_;
  const Processes& processes_;
  const Fs& disk_;
  double begun_;
  std::int64_t oom_kills_;  // before it began
  const ScratchFolder scratch_{};
  const LaunchPlan plan_{};
  LaunchProcess process_;
  const HangJudge new_judge_;
  HangJudge judge_;
  bool hung_ = false, warned_ = false;
};

}  // namespace depthgrid
