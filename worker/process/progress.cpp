#include "worker/process/progress.hpp"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kTerminalSeconds = 0.2, kPlainSeconds = 5, kJsonSeconds = 1;
constexpr double kLogSeconds = 60;

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto s = static_cast<std::int64_t>(std::lround(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

std::string bar(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t kWidth = 30;
  const std::int64_t full = total > 0 ? done * kWidth / total : 0;
  std::string out;
  for (std::int64_t i = 0; i < kWidth; ++i) out += i < full ? '#' : '.';
  return fmt::format("[{}] {}/{} cells", out, done, total);
}

}  // namespace

ProgressStyle progress_style(const std::string& word) {
  if (word == "quiet") return ProgressStyle::Quiet;
  if (word == "json") return ProgressStyle::Json;
  if (word == "plain") return ProgressStyle::Plain;
  if (word != "auto") throw Error("unknown progress style '" + word + "'");
  return isatty(STDERR_FILENO) != 0 ? ProgressStyle::Terminal : ProgressStyle::Plain;
}

Progress::Progress(ProgressStyle style, std::string tag, int rank)
    : style_(style), tag_(std::move(tag)), rank_(rank) {}

void Progress::put(const std::string& line) {
  std::fputs((line + "\n").c_str(), stderr);  // one call: lines of several ranks stay whole
  std::fflush(stderr);
}

void Progress::clear() {
  for (; drawn_ > 0; --drawn_) std::fputs("\033[1A\033[2K", stderr);
}

void Progress::say(const std::string& line) {
  log_quietly(LogLevel::Info, line);
  if (style_ == ProgressStyle::Quiet) return;
  if (style_ == ProgressStyle::Json) {
    put(Json{{"schema", 1}, {"event", "note"}, {"rank", rank_}, {"text", line}}.dump());
    return;
  }
  clear();
  put(style_ == ProgressStyle::Terminal ? line : "depthgrid: " + tag_ + line);
}

void Progress::sweep(std::int64_t cells_done, std::int64_t cells) {
  done_ = cells_done;
  total_ = cells;
}

void Progress::job_started(const std::string& id, std::int64_t cells, std::int64_t first_step,
                           std::int64_t steps, const std::string& label) {
  job_ = id;
  label_ = label;
  cells_ = cells;
  first_ = step_ = first_step;
  steps_ = steps;
  since_start_ = Stopwatch();
  since_drawn_ = Stopwatch();
  since_logged_ = Stopwatch();
  phase_ = "";
  const std::string line =
      fmt::format("job {} starts at step {} of {}: {}", id, first_step, steps, label);
  log_quietly(LogLevel::Info, line);
  if (style_ == ProgressStyle::Plain) put("depthgrid: " + tag_ + line);
  if (style_ == ProgressStyle::Json) {
    put(Json{{"schema", 1},
             {"event", "job_start"},
             {"rank", rank_},
             {"job", job_},
             {"cells", cells_},
             {"step", step_},
             {"steps", steps_},
             {"label", label_},
             {"cells_done", done_},
             {"cells_total", total_}}
            .dump());
  }
}

void Progress::step(std::int64_t step, double low, double high) {
  step_ = step;
  last_low_ = low;
  last_high_ = high;
  phase_ = "";
  if (since_logged_.seconds() > kLogSeconds) {
    since_logged_ = Stopwatch();
    log_quietly(LogLevel::Info, state(low, high));
  }
  const double wait = style_ == ProgressStyle::Terminal ? kTerminalSeconds
                      : style_ == ProgressStyle::Plain  ? kPlainSeconds
                                                        : kJsonSeconds;
  if (style_ == ProgressStyle::Quiet || (since_drawn_.seconds() < wait && step != steps_)) return;
  draw(low, high);
}

void Progress::phase(const std::string& what) {
  phase_ = what;
  if (style_ == ProgressStyle::Terminal && since_drawn_.seconds() > kTerminalSeconds) {
    draw(last_low_, last_high_);
  }
}

double Progress::rate() const {
  const auto made = static_cast<double>(step_ - first_);
  return made > 0 ? made / since_start_.seconds() : std::nan("");
}

std::string Progress::state(double low, double high) const {
  const std::string losses =
      low == high ? fmt::format("{:.4f}", low) : fmt::format("{:.4f}-{:.4f}", low, high);
  const double eta = static_cast<double>(steps_ - step_) / rate();
  return fmt::format("job {} ({} {}) step {}/{} loss {} {:.1f} cell-steps/s ETA {}{}", job_, cells_,
                     cells_ == 1 ? "cell" : "cells", step_, steps_, losses,
                     rate() * static_cast<double>(cells_), duration(eta),
                     phase_.empty() ? "" : " · " + phase_);
}

void Progress::draw(double low, double high) {
  since_drawn_ = Stopwatch();
  if (style_ == ProgressStyle::Json) {
    put(Json{{"schema", 1},
             {"event", "step"},
             {"rank", rank_},
             {"job", job_},
             {"cells", cells_},
             {"step", step_},
             {"steps", steps_},
             {"loss_min", low},
             {"loss_max", high},
             {"cell_steps_per_second", rate() * static_cast<double>(cells_)},
             {"eta_seconds", static_cast<double>(steps_ - step_) / rate()},
             {"cells_done", done_},
             {"cells_total", total_}}
            .dump());
    return;
  }
  const std::string line = state(low, high);
  if (style_ == ProgressStyle::Plain) {
    put(fmt::format("depthgrid: {}{} ({}/{} cells done)", tag_, line, done_, total_));
    return;
  }
  clear();
  put(line);
  put(bar(done_, total_));
  drawn_ = 2;
}

void Progress::job_ended(const std::string& outcome) {
  const std::string line = fmt::format("job {} {} after {} ({}/{} cells done): {}", job_, outcome,
                                       duration(since_start_.seconds()), done_, total_, label_);
  if (style_ != ProgressStyle::Json) return say(line);
  log_quietly(LogLevel::Info, line);
  put(Json{{"schema", 1},
           {"event", "job_end"},
           {"rank", rank_},
           {"job", job_},
           {"outcome", outcome},
           {"cells", cells_},
           {"step", step_},
           {"seconds", since_start_.seconds()},
           {"cells_done", done_},
           {"cells_total", total_}}
          .dump());
}

}  // namespace depthgrid
