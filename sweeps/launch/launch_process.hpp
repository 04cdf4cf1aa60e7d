#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/child_process.hpp"
#include "core/base/clock.hpp"
#include "core/base/scratch_folder.hpp"
#include "sweeps/launch/launcher.hpp"
#include "sweeps/launch/running_launch.hpp"
#include "sweeps/live/progress_channel.hpp"

namespace depthgrid {

/// A launch as a child process: a worker, or the launcher of several. What it writes goes to
/// `attempt-<n>.log` in the launch's folder (LaunchRequest::own_log), what it reports to
/// `board-<n>` there.
class LaunchProcess final : public RunningLaunch {
 public:
  /// @param number  by which LiveEvent::rank distinguishes launches.
  /// @param clock  outlives it.
  LaunchProcess(const LaunchRequest& request, const LaunchCommand& command, int number,
                const Clock& clock = real_clock());
  ~LaunchProcess() override;

  /// Progress channel of a launch, for its command.
  static std::filesystem::path channel_of(const LaunchRequest& request);

  /// The code of the rank that ended first and badly where the launcher returns a signal, which may
  /// be the one by which it ended the others; Infrastructure if the launcher itself has failed, and
  /// its log says so.
  std::optional<int> poll() override;
  /// Once it has ended: as that rank has noted, or this node if all ranks ran here.
  std::string node() override { return node_; }
  std::string cause() override { return cause_; }
  void ask_to_stop() override;
  void pass_on(int signal) { child_.signal(signal); }
  /// Stops its processes on this host, which continue with resume().
  void suspend() { child_.suspend(); }
  void resume() { child_.signal_group(SIGCONT); }
  void kill() override { child_.kill_group(); }
  /// At one of the next polls: before that, its ranks on this host write to its log where they are.
  /// srun's are left out: it would take the signal as a request to end them.
  void kill_hung() override;
  std::vector<LiveEvent> news() override;
  LifeSign life() override { return life_; }
  /// Whether its ranks can write what they report: else their silence proves nothing.
  bool can_report() const;

 private:
  std::string lack_of_space() const;

  std::filesystem::path note_;
  const Fs& disk_;
  ProgressChannel channel_;
  LauncherKind kind_;
  std::string node_, cause_;
  std::filesystem::path log_;
  std::optional<ScratchFolder> sessions_;  // before the child, which writes there
  ChildProcess child_;
  int number_;
  LifeSign life_;
  const Clock& clock_;
  std::optional<double> asked_where_{};  // when, before it is killed as hung
  double read_;                          // when its channel was, last
};

}  // namespace depthgrid
