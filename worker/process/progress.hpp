#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/terminal.hpp"
#include "core/base/ticker.hpp"
#include "sweeps/live/live_board.hpp"
#include "sweeps/live/live_sweep.hpp"

namespace depthgrid {

enum class ProgressStyle : std::uint8_t { Terminal, Plain, Quiet, Json };

/// "auto" is Terminal where there is one (core/base/terminal.hpp), else Plain.
/// @throws Error for an unknown word.
ProgressStyle progress_style(const std::string& word);

struct ProgressOptions {
  ProgressStyle style = ProgressStyle::Quiet;  // the same on every rank
  int rank = 0, ranks = 1;
  std::filesystem::path board{};                  // see LiveBoard; empty: none
  std::filesystem::path tells{};                  // where the first rank tells a supervisor
  const Fs* disk = &real_fs();                    // of the store, in which both are
  std::function<bool(std::size_t)> has_result{};  // whether a row has one
  std::function<bool()> stop_requested{};         // of this process
  std::function<void()> request_stop{};           // called if another rank was asked to stop
};

/// Shows on stderr what all ranks of a run are doing, and passes a stop on to all of them. The
/// first rank draws: on a terminal a region that is redrawn below the lines that stay, elsewhere a
/// plain line now and then, or one JSON object per record (docs/cli.md). The others tell it by the
/// store. Each rank's log file gets its jobs' start and end and, once per minute, its state.
///
/// Drawing and files are the business of a thread of its own: it never waits for a training step,
/// and no step waits for a slow disk or terminal. All methods may be called from any thread.
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
  void say(const std::string& line);

  /// Shows what is left to show, gives the terminal back and ends the thread. The last rank to call
  /// it is the first one: the others must have closed theirs before.
  void close();

 private:
  LiveEvent event(LiveKind kind, std::string text) const;  // of the present job
  void post(LiveEvent event);
  void turn(bool last);
  void tell_watchers(const std::vector<LiveEvent>& told, const std::optional<LiveEvent>& newest);
  void hear(const LiveEvent& event);
  void show(bool last);
  void draw(const Terminal& terminal, bool last);
  void look_for_results(double every);

  ProgressOptions options_;
  Stopwatch since_begin_;
  std::mutex mutex_;  // of what follows, up to sweep_
  std::vector<LiveEvent> outbox_;
  std::optional<LiveEvent> newest_;  // a step or phase that a later one may replace
  LiveEvent job_;                    // the present one, empty between jobs
  Stopwatch since_start_, since_end_, since_step_record_, since_logged_;
  std::vector<std::vector<std::size_t>> plan_;
  std::size_t teams_ = 0;

  // The ticker's own.
  LiveSweep sweep_;
  std::optional<LiveBoard> board_, tells_;
  std::optional<Terminal> terminal_;
  std::vector<std::string> notes_;     // lines that stay, not yet shown
  std::map<int, double> last_record_;  // when each rank's step was last written as JSON
  bool worked_ = false;                // a job has begun
  bool stopping_ = false;
  double last_plain_ = 0, last_results_ = 0;
  Stopwatch since_told_;
  std::optional<Ticker> ticker_;
};

}  // namespace depthgrid
