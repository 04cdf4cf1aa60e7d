#include "worker/process/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/base/output.hpp"
#include "core/base/printable.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

constexpr double kLogSeconds = 60, kStepRecordSeconds = 1;
// Of plain lines: every 10 s at first, in the end once per minute.
constexpr double kPlainSeconds = 10, kPlainMost = 60, kPlainShare = 1.0 / 30;
constexpr double kResultSeconds = 5;  // other runs may train cells of this store

/// s between two looks. Many ranks share one disk.
double period(const ProgressOptions& o) {
  return o.ranks == 1 ? 0.2 : std::clamp(0.01 * o.ranks, 0.3, 5.0);
}

}  // namespace

ProgressStyle progress_style(const std::string& word) {
  if (word == "quiet") return ProgressStyle::Quiet;
  if (word == "json") return ProgressStyle::Json;
  if (word == "plain") return ProgressStyle::Plain;
  if (word != "auto") throw Error("unknown progress style '" + word + "'");
  return Terminal::find() ? ProgressStyle::Terminal : ProgressStyle::Plain;
}

Progress::Progress(ProgressOptions options, LiveSweep sweep)
    : options_(std::move(options)), sweep_(std::move(sweep)) {
  if (!options_.board.empty()) board_.emplace(options_.board, *options_.disk);
  if (board_ && options_.rank == 0) board_->sign();
  if (options_.rank == 0 && !options_.tells.empty()) tells_.emplace(options_.tells, *options_.disk);
  if (options_.rank == 0 && options_.style == ProgressStyle::Terminal) {
    terminal_ = Terminal::find();
    if (!terminal_) options_.style = ProgressStyle::Plain;
  }
  ticker_.emplace(
      "display", period(options_), [this](double) { turn(false); }, [this](double) { turn(true); });
}

Progress::~Progress() {
  close();
}

void Progress::close() {
  ticker_->stop();
}

void Progress::plan(std::vector<std::vector<std::size_t>> jobs, std::size_t teams) {
  const std::lock_guard lock(mutex_);
  plan_ = std::move(jobs);
  teams_ = teams;
  since_end_ = Stopwatch();  // audits, for example, are not the wait of the first job
}

LiveEvent Progress::event(LiveKind kind, std::string text) const {
  LiveEvent out = job_;
  out.kind = kind;
  out.rank = options_.rank;
  out.text = std::move(text);
  out.seconds = since_start_.seconds();
  return out;
}

/// Steps and phases may be replaced by later ones before anybody has seen them.
void Progress::post(LiveEvent event) {
  newest_.reset();
  outbox_.push_back(std::move(event));
}

void Progress::job_started(const std::string& id, std::vector<std::size_t> rows,
                           std::int64_t first_step, std::int64_t steps, const std::string& label) {
  log_quietly(LogLevel::Info,
              fmt::format("job {} starts at step {} of {}: {}", id, first_step, steps, label));
  const std::lock_guard lock(mutex_);
  since_start_ = since_step_record_ = since_logged_ = Stopwatch();
  job_ = {.rank = options_.rank,
          .job = id,
          .rows = std::move(rows),
          .first = first_step,
          .step = first_step,
          .steps = steps,
          .low = kNaN,
          .high = kNaN,
          .idle = since_end_.seconds()};
  post(event(LiveKind::JobStart, label));
}

void Progress::step(std::int64_t step, double low, double high) {
  const std::lock_guard lock(mutex_);
  job_.step = step;
  job_.low = low;
  job_.high = high;
  LiveEvent now = event(LiveKind::Step, "");
  if (since_logged_.seconds() > kLogSeconds) {
    since_logged_ = Stopwatch();
    log_quietly(LogLevel::Info,
                fmt::format("job {} step {}/{} loss {:.4f}-{:.4f} {:.1f} cell-steps/s", job_.job,
                            step, job_.steps, low, high, now.rate()));
  }
  if (step == job_.steps) return post(std::move(now));
  newest_ = std::move(now);
}

void Progress::phase(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (job_.job.empty()) return;
  newest_ = event(LiveKind::Phase, what);
}

void Progress::job_ended(const std::string& outcome) {
  const std::lock_guard lock(mutex_);
  const LiveEvent end = event(LiveKind::JobEnd, outcome);
  log_quietly(LogLevel::Info, fmt::format("job {} {} at step {} after {}", end.job, outcome,
                                          end.step, clock_text(end.seconds)));
  post(end);
  job_ = {};
  since_end_ = Stopwatch();
}

void Progress::cell_failed(std::size_t row, const std::string& why) {
  const std::lock_guard lock(mutex_);
  LiveEvent failed{.kind = LiveKind::Failed, .rank = options_.rank, .rows = {row}, .text = why};
  outbox_.push_back(std::move(failed));
}

void Progress::cell_cancelled(std::size_t row) {
  const std::lock_guard lock(mutex_);
  outbox_.push_back({.kind = LiveKind::Cancelled, .rank = options_.rank, .rows = {row}});
}

void Progress::cell_diverged(std::size_t row, std::int64_t step) {
  const std::lock_guard lock(mutex_);
  outbox_.push_back({.kind = LiveKind::Diverged,
                     .rank = options_.rank,
                     .rows = {row},
                     .text = fmt::format("diverged at step {}", step)});
}

void Progress::say(const std::string& line) {
  log_quietly(LogLevel::Info, line);
  const std::lock_guard lock(mutex_);
  outbox_.push_back({.kind = LiveKind::Note, .rank = options_.rank, .text = line});
}

void Progress::turn(bool last) {
  std::vector<LiveEvent> told;
  std::optional<LiveEvent> newest;
  {
    const std::lock_guard lock(mutex_);
    told.swap(outbox_);
    newest = std::exchange(newest_, std::nullopt);
    if (teams_ > 0) sweep_.plan(std::move(plan_), std::exchange(teams_, 0));
  }
  const bool several = board_ && options_.ranks > 1;
  if (several && !stopping_ && options_.stop_requested && options_.stop_requested()) {
    board_->ask_to_stop();
    stopping_ = true;
  }
  if (several && !stopping_ && board_->stop_asked()) {
    stopping_ = true;
    if (options_.request_stop) options_.request_stop();
  }
  if (options_.rank != 0) {
    if (!board_) return;
    board_->append(told);
    if (newest) board_->replace(*newest);
    return;
  }
  for (const LiveEvent& event : told) hear(event);
  if (newest) hear(*newest);
  if (board_) {
    tell_watchers(told, newest);
    for (const LiveEvent& event : board_->read(options_.ranks, options_.rank)) hear(event);
  }
  look_for_results(last ? 0 : kResultSeconds);
  show(last);
  if (last && board_) board_->remove();
}

/// The first rank's own news, which only other programs read: depthgrid status.
void Progress::tell_watchers(const std::vector<LiveEvent>& told,
                             const std::optional<LiveEvent>& newest) {
  board_->append(told);
  if (!newest || since_told_.seconds() < kStepRecordSeconds) return;
  board_->replace(*newest);
  since_told_ = Stopwatch();
}

/// On the first rank: takes in what any rank has told.
void Progress::hear(const LiveEvent& event) {
  const double now = since_begin_.seconds();
  if (tells_ && event.rank == 0) {
    const bool passes = event.kind == LiveKind::Step || event.kind == LiveKind::Phase;
    if (passes && event.step != event.steps) {
      tells_->replace(event);
    } else {
      tells_->append({event});
    }
  }
  if (!sweep_.apply(event, now)) return;
  worked_ = worked_ || event.kind == LiveKind::JobStart;
  if (event.kind == LiveKind::JobEnd && options_.has_result) {
    for (const std::size_t row : event.rows) {
      if (options_.has_result(row)) sweep_.finish(row);
    }
  }
  if (event.kind == LiveKind::Note) {
    notes_.push_back((options_.ranks > 1 ? fmt::format("rank {}: ", event.rank) : std::string()) +
                     printable(event.text));
  }
  if (options_.style != ProgressStyle::Json) return;
  if (event.kind == LiveKind::Step && event.step != event.steps) {
    double& before = last_record_[event.rank];
    if (now - before < kStepRecordSeconds) return;
    before = now;
  }
  const std::string record = record_json(event, sweep_.done(), sweep_.cells());
  if (!record.empty()) tell(record + '\n');
}

/// Cells that others have finished: runs on the same store.
void Progress::look_for_results(double every) {
  const double now = since_begin_.seconds();
  if (!options_.has_result || now - last_results_ < every) return;
  for (const std::size_t row : sweep_.open()) {
    if (options_.has_result(row)) sweep_.finish(row);
  }
  last_results_ = since_begin_.seconds();
}

/// The cursor rests on an empty line above the region: whatever others write, the shell or another
/// rank, begins there and is kept, and what is below can be erased whatever size the window has
/// now.
void Progress::draw(const Terminal& terminal, bool last) {
  std::string out(kEraseBelow);
  for (const std::string& note : notes_) out += note + '\n';
  notes_.clear();
  if (!last) {
    const Terminal::Size size = terminal.size();
    const std::vector<std::string> lines =
        live_lines(sweep_.view(since_begin_.seconds()), size.columns, size.rows);
    for (const std::string& line : lines) out += '\n' + line;
    out += fmt::format("\r\033[{}A", lines.size());
  }
  terminal.write(out);
}

void Progress::show(bool last) {
  if (options_.style == ProgressStyle::Quiet || options_.style == ProgressStyle::Json) return;
  const TerminalUse use = terminal_ ? terminal_->use() : TerminalUse::Lines;
  if (use == TerminalUse::Draw) return draw(*terminal_, last);
  if (use == TerminalUse::Nothing) return;
  for (const std::string& note : notes_) tell("depthgrid: " + note + '\n');
  notes_.clear();
  const double now = since_begin_.seconds();
  const double wait = std::clamp(now * kPlainShare, kPlainSeconds, kPlainMost);
  if (!worked_ || (!last && now - last_plain_ < wait)) return;
  last_plain_ = now;
  tell("depthgrid: " + plain_line(sweep_.view(now)) + '\n');
}

}  // namespace depthgrid
