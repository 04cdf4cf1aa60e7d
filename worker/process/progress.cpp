#include "worker/process/progress.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

constexpr double kLogSeconds = 60;
constexpr double kReportSeconds = 1;  // between two steps of the first rank in the ranks' channel

/// s between two turns. Many ranks share one disk.
double period(const ProgressOptions& o) {
  return o.ranks == 1 ? 0.2 : std::clamp(0.01 * o.ranks, 0.3, 5.0);
}

}  // namespace

Progress::Progress(ProgressOptions options, LiveSweep sweep) : options_(std::move(options)) {
  const auto open = [&](std::optional<ProgressChannel>& channel,
                        const std::filesystem::path& folder) {
    if (!folder.empty()) channel.emplace(folder, *options_.disk);
  };
  open(channel_, options_.channel);
  if (options_.rank == 0) {
    if (channel_) channel_->sign();
    open(supervisor_, options_.supervisor);
    display_.emplace(DisplayOptions{.style = options_.style,
                                    .names_ranks = options_.ranks > 1,
                                    .has_result = options_.has_result},
                     std::move(sweep));
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
  since_start_ = since_logged_ = Stopwatch();
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

void Progress::notify(const std::string& line) {
  log_quietly(LogLevel::Info, line);
  const std::lock_guard lock(mutex_);
  outbox_.push_back({.kind = LiveKind::Note, .rank = options_.rank, .text = line});
}

void Progress::turn(bool last) {
  std::vector<LiveEvent> events;
  std::optional<LiveEvent> newest;
  {
    const std::lock_guard lock(mutex_);
    events.swap(outbox_);
    newest = std::exchange(newest_, std::nullopt);
    if (teams_ > 0 && display_) {
      display_->sweep().plan(std::move(plan_), std::exchange(teams_, 0));
    }
  }
  pass_stop_on();
  if (channel_) report(events, newest);
  if (!display_) return;
  for (const LiveEvent& event : events) show_own(event);
  if (newest) show_own(*newest);
  if (channel_) {
    for (const LiveEvent& event : channel_->read(options_.ranks, options_.rank)) {
      display_->receive(event);
    }
  }
  if (!last) return display_->update();
  display_->close();
  if (channel_) channel_->remove();
}

/// Among several ranks, a stop of one is that of all.
void Progress::pass_stop_on() {
  if (!channel_ || options_.ranks == 1 || stopping_) return;
  if (options_.stop_requested && options_.stop_requested()) {
    channel_->ask_to_stop();
    stopping_ = true;
  } else if (channel_->stop_asked()) {
    stopping_ = true;
    if (options_.request_stop) options_.request_stop();
  }
}

/// What the first rank reports in the ranks' channel is read by other programs only: depthgrid
/// status.
void Progress::report(const std::vector<LiveEvent>& events,
                      const std::optional<LiveEvent>& newest) {
  channel_->append(events);
  if (!newest || (options_.rank == 0 && since_reported_.seconds() < kReportSeconds)) return;
  channel_->replace(*newest);
  since_reported_ = Stopwatch();
}

/// The first rank's own events go to its supervisor, too.
void Progress::show_own(const LiveEvent& event) {
  if (supervisor_) {
    const bool passes = event.kind == LiveKind::Step || event.kind == LiveKind::Phase;
    if (passes && event.step != event.steps) {
      supervisor_->replace(event);
    } else {
      supervisor_->append({event});
    }
  }
  display_->receive(event);
}

}  // namespace depthgrid
