#pragma once

#include <cstdint>
#include <string>

#include "core/base/clock.hpp"

namespace depthgrid {

enum class ProgressStyle : std::uint8_t { Terminal, Plain, Quiet, Json };

/// "auto" is Terminal where stderr is one, else Plain. @throws Error for an unknown word.
ProgressStyle progress_style(const std::string& word);

/// Shows on stderr what this process is doing: on a terminal, one line for the current job and one
/// bar for the sweep, redrawn; elsewhere a plain line every few seconds; or one JSON object per
/// line (docs/cli.md). The log file gets the start and end of jobs and, once per minute, the state.
class Progress {
 public:
  /// @param tag  "rank 1: " before plain lines, empty for a single process. @param rank  in JSON.
  Progress(ProgressStyle style, std::string tag, int rank);

  /// @param cells_done, cells  of the sweep.
  void sweep(std::int64_t cells_done, std::int64_t cells);

  void job_started(const std::string& id, std::int64_t cells, std::int64_t first_step,
                   std::int64_t steps, const std::string& label);

  /// @param low, high  losses over the job's cells, nats per token.
  void step(std::int64_t step, double low, double high);

  /// "evaluating", "final evaluation": a long phase other than training steps.
  void phase(const std::string& what);

  void job_ended(const std::string& outcome);

  /// A permanent line, above the redrawn ones.
  void say(const std::string& line);

 private:
  void draw(double low, double high);
  std::string state(double low, double high) const;
  double rate() const;  // steps per second; NaN before the first
  void clear();
  void put(const std::string& line);

  ProgressStyle style_;
  std::string tag_;
  int rank_;
  std::string job_, label_, phase_;
  std::int64_t done_ = 0, total_ = 0;
  std::int64_t cells_ = 0, first_ = 0, step_ = 0, steps_ = 0;
  int drawn_ = 0;  // lines on the terminal that are ours to redraw
  Stopwatch since_start_, since_drawn_, since_logged_;
  double last_low_ = 0, last_high_ = 0;
};

}  // namespace depthgrid
