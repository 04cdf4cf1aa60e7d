#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sweeps/live/live_event.hpp"
#include "sweeps/live/time_model.hpp"

namespace depthgrid {

/// A cell as the display sees it.
struct LiveCell {
  std::string alias;
  std::string structure;  // fusion key
  std::int64_t steps = 0;
  std::int64_t made = 0;         // steps in earlier attempts: its newest checkpoint
  PredictedTime predicted = {};  // of all its steps, on its team
  std::size_t width = 1;         // places that its team takes, of those of LiveSweep::plan()
  bool done = false;             // has a result
  bool counted = true;           // false: it is another's, of whose cells this shows nothing
};

/// A running job on the screen.
struct LiveJob {
  int rank = 0;
  std::string label;  // aliases of the first and the last cell
  std::int64_t cells = 1;
  std::int64_t step = 0, steps = 0;
  double low = 0, high = 0;  // nats per token; NaN before the first step
  double rate = 0;           // cell-steps per second; NaN before the first step
  std::string phase;         // "final evaluation"; empty: training
};

/// What became of a cell that did not complete. Diverged is a result.
enum class LiveFate : std::uint8_t { Failed, Diverged, Cancelled };
struct LiveNews {
  LiveFate fate = LiveFate::Failed;
  std::string text;  // "alias: why"
};

/// Everything that a display shows.
struct LiveView {
  std::string sweep;
  std::int64_t cells_done = 0, cells = 0;
  std::int64_t cell_steps_done = 0, cell_steps = 0;
  double fraction = 0;   // of all cell-steps; never decreases
  double elapsed = 0;    // s
  double remaining = 0;  // s; NaN while unknown
  std::vector<LiveJob> jobs;
  std::vector<LiveNews> news;  // the newest last
};

/// The state of a run as its ranks report it. Pure: time comes from outside.
class LiveSweep {
 public:
  LiveSweep(std::string name, std::vector<LiveCell> cells);

  /// Jobs in the order in which they are taken, as rows. Without a plan nothing is predicted.
  /// @param places  teams that train at the same time; where teams differ, ranks.
  void plan(std::vector<std::vector<std::size_t>> jobs, std::size_t places);

  /// @param now  s since the run began, here and below.
  /// @return false for news of a job that has already ended.
  bool apply(const LiveEvent& event, double now);
  /// Nothing more comes from this rank: a job that it has not ended runs no longer.
  void leave(int rank);

  /// The cell has a result, or has failed for good. Repeating it changes nothing.
  void finish(std::size_t row);
  void fail(std::size_t row, const std::string& why);
  /// The cell has ended without a result, since a user wants none.
  void cancel(std::size_t row);
  /// The cell has a result, and is among the news.
  void diverge(std::size_t row, const std::string& how);

  /// Rows of counted cells that have not ended.
  std::vector<std::size_t> open() const;
  /// Of the counted cells: those with a result, and all.
  std::int64_t done() const noexcept { return done_; }
  std::int64_t cells() const { return std::ranges::count(cells_, true, &LiveCell::counted); }

  LiveView view(double now);

 private:
  struct Running {
    LiveEvent last;  // JobStart or Step, with rows and label
    std::string phase;
    double received = 0;      // when it was
    double step_seconds = 0;  // of the job at its last step
    double idle = 0;
  };
  PredictedTime of_job(const std::vector<std::size_t>& rows, double part) const;
  double part_left(const Running& job) const;
  double remaining(double now) const;
  void measure(TimeModel& times, const Running& job) const;

  std::string name_;
  std::vector<LiveCell> cells_;
  std::vector<bool> lost_;
  std::vector<LiveNews> news_;
  std::vector<std::vector<std::size_t>> jobs_;
  std::size_t places_ = 1;
  std::map<int, Running> running_;  // by rank
  TimeModel times_;                 // of jobs that have ended
  std::int64_t done_ = 0;
  double shown_ = 0;  // largest fraction
};

}  // namespace depthgrid
