#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/ticker.hpp"
#include "sweeps/live/display.hpp"
#include "sweeps/live/progress_channel.hpp"

namespace depthgrid {

struct ProgressOptions {
  DisplayStyle style = DisplayStyle::Quiet;  // the same on every rank
  int rank = 0, ranks = 1;
  std::filesystem::path channel{};     // of the ranks of this run, see ProgressChannel; empty: none
  std::filesystem::path supervisor{};  // the channel by which the first rank reports to one
  const Fs* disk = &real_fs();         // of the store, in which both are
  std::function<bool(std::size_t)> has_result{};  // whether a row has one
  std::function<bool()> stop_requested{};         // of this process
  std::function<void()> request_stop{};           // called if another rank was asked to stop
};

/// Brings what the ranks of a run do to the Display of the first one, by a channel in the store,
/// and a stop of one rank to all of them. Each rank's log file gets its jobs' start and end and,
/// once per minute, its state.
///
/// Display and channel are the business of a thread of its own: it never waits for a training step,
/// and no step waits for a slow disk or terminal. All methods may be called from any thread; one
/// makes and destroys it (see Display).
class Progress {
 public:
  Progress(ProgressOptions options, LiveSweep sweep);
  /// Calls close().
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// For the remaining time: see LiveSweep. Work begins now.
  void plan(std::vector<std::vector<std::size_t>> jobs, std::size_t teams);

  /// @param rows  of the job. @param label  its aliases.
  void job_started(const std::string& id, std::vector<std::size_t> rows, std::int64_t first_step,
                   std::int64_t steps, const std::string& label);

  /// @param low, high  losses over the job's cells, nats per token.
  void step(std::int64_t step, double low, double high);

  /// "evaluating", "final evaluation": a long phase other than training steps.
  void phase(const std::string& what);

  void job_ended(const std::string& outcome);

  /// This cell has failed for good.
  void cell_failed(std::size_t row, const std::string& why);

  /// A user has ended this cell.
  void cell_cancelled(std::size_t row);

  /// This cell has a result: it diverged.
  void cell_diverged(std::size_t row, std::int64_t step);

  /// A line that stays.
  void notify(const std::string& line);

  /// Shows what is left to show, gives the terminal back and ends the thread. The last rank to call
  /// it is the first one: the others must have closed theirs before.
  void close();

 private:
  LiveEvent event(LiveKind kind, std::string text) const;  // of the present job
  void post(LiveEvent event);
  void turn(bool last);
  void pass_stop_on();
  void report(const std::vector<LiveEvent>& events, const std::optional<LiveEvent>& newest);
  void show_own(const LiveEvent& event);

  ProgressOptions options_;
  std::mutex mutex_;  // of what follows, up to display_
  std::vector<LiveEvent> outbox_;
  std::optional<LiveEvent> newest_;  // a step or phase that a later one may replace
  LiveEvent job_;                    // the present one, empty between jobs
  Stopwatch since_start_, since_end_, since_logged_;
  std::vector<std::vector<std::size_t>> plan_;
  std::size_t teams_ = 0;

  // The ticker's own.
  std::optional<Display> display_;  // on the first rank
  std::optional<ProgressChannel> channel_, supervisor_;
  bool stopping_ = false;
  Stopwatch since_reported_;
  std::optional<Ticker> ticker_;
};

}  // namespace depthgrid
