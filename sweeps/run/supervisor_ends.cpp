// What follows from the end of a launch: its record, and whether it is tried again, in parts, or
// given up.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/last_lines.hpp"
#include "core/base/processes.hpp"
#include "sweeps/live/live_text.hpp"
#include "sweeps/run/supervisor.hpp"

namespace depthgrid {
namespace {

/// The last line in which a rank has reported its peak, behind a colon; empty if none has.
std::string peak_line(const std::string& words) {
  const std::size_t at = words.rfind(kOutOfMemoryWords);
  return at == words.npos ? "" : ": " + words.substr(at, words.find('\n', at) - at);
}

/// What is planned anew, in smaller parts, has not failed.
bool splits(const LaunchRecord& record) {
  return record.end == LaunchEnd::OutOfMemory && record.cells.size() > 1;
}

}  // namespace

/// @param words  what it said last.
LaunchRecord Supervisor::record_of(const Watched& launch, LaunchEnd end, int code,
                                   const std::string& words) const {
  const LaunchPlan& plan = queue_[launch.index];
  std::string cause = launch.process->cause();
  if (cause.empty() && end == LaunchEnd::Infrastructure && names_the_node(words)) cause = "card";
  return {.id = plan.id,
          .attempt = launch.attempt,
          .cells = plan.cells,
          .host = launch.process->node(),
          .slurm_job = options_.slurm_job,
          .restart = options_.restart,
          .launcher = backend_.launcher_of(plan.ranks),
          .ranks = plan.ranks,
          .end = end,
          .code = code,
          .cause = cause,
          .seconds = backend_.now() - launch.begun,
          .log = attempt_log(launch.attempt),
          .last_words = end == LaunchEnd::Done || end == LaunchEnd::Stopped ? "" : words};
}

void Supervisor::ended(Watched& launch, int code) {
  const std::size_t index = launch.index;
  const LaunchPlan& plan = queue_[index];
  const std::string words = last_lines(launch_folder(store_, plan.id) / attempt_log(launch.attempt),
                                       kLastWords, leases_.fs());
  LaunchEnd end = end_of(code, words, real_processes().oom_kills_so_far() - launch.oom_kills);
  if (launch.hung) end = LaunchEnd::Hang;
  const LaunchRecord record = record_of(launch, end, code, words);
  backend_.record(end_event(record));
  return_share(launch.share, end);
  const double now = backend_.now();
  queue_.give_back(index, now);
  const bool progressed = backend_.progress(plan) > launch.progress;
  // Before its record is written: if the disk has no space for it, another pause begins.
  if (end == LaunchEnd::Done || progressed) disk_.over();
  unwritten_.push_back(record);
  keep_records();
  if (end == LaunchEnd::Disk && stopping_since_ < 0 && waits_for_disk(words, false)) return;
  const RetryBook::Verdict verdict = splits(record) ? RetryBook::Verdict{.not_before = now}
                                                    : retries_.ended(plan.id, end, progressed, now);
  if (policy_of(end).ends_run) {
    const ExitCode its = static_cast<ExitCode>(code);
    return end_with(its, fmt::format("launch {} ended as {}; what it said:\n{}", plan.id,
                                     end_text(end, code), words));
  }
  if (end == LaunchEnd::Stopped && stopping_since_ < 0) {
    return end_with(ExitCode::TempFail, "a launch was stopped from outside: all others stop, too");
  }
  if (end == LaunchEnd::Done) note_success(plan);
  if (code == static_cast<int>(ExitCode::Partial)) {  // it has reported failed cells
    if (code_ == ExitCode::Done) code_ = ExitCode::Partial;
    if (options_.fail_fast) end_with(ExitCode::Partial, "--fail-fast: a cell has failed; stopping");
    if (const auto broken = retries_.broken(now)) end_with(ExitCode::Failed, *broken);
  }
  if (queue_.over_if_finalised(index) || end == LaunchEnd::Stopped) return;
  // Others hold some of its cells.
  if (end == LaunchEnd::Done) return queue_.give_back(index, after_a_heartbeat());
  try_again(index, record, verdict);
  if (const auto broken = retries_.broken(now)) end_with(ExitCode::Failed, *broken);
}

/// Of a launch that has failed: in parts, not at all, or as it is.
void Supervisor::try_again(std::size_t index, const LaunchRecord& record,
                           const RetryBook::Verdict& verdict) {
  if (splits(record)) {
    backend_.notify(fmt::format("launch {} of {} cells does not fit in memory: it is split",
                                record.id, record.cells.size()));
    replace(index, smaller_parts_of(queue_[index]), record, verdict.not_before);
  } else if (verdict.gives_up) {
    give_up(index, record, verdict);
  } else {
    queue_.give_back(index, verdict.not_before);
    const double pause = std::max(0.0, verdict.not_before - backend_.now());
    backend_.notify(fmt::format("launch {} of {} cells ended as {} after {}; again in {:.0f} s",
                                record.id, record.cells.size(), end_text(record.end, record.code),
                                clock_text(record.seconds), pause));
    backend_.record(again_event(record.id, record.end, verdict, pause));
  }
}

/// A launch that ended in order has failed if it has left no result.
void Supervisor::note_success(const LaunchPlan& plan) {
  if (std::ranges::any_of(plan.rows, [&](std::size_t row) { return backend_.done(row); })) {
    retries_.streak().succeeded();
  } else if (std::ranges::all_of(plan.rows,
                                 [&](std::size_t row) { return backend_.finalised(row); })) {
    retries_.streak().failed();
  }
}

void Supervisor::return_share(const SlotShare& share, LaunchEnd end) {
  for (const auto& [card, faults] : slots_.give_back(share, end == LaunchEnd::Infrastructure)) {
    backend_.notify(fmt::format("GPU {} on {} disabled after {} infrastructure failures", card,
                                options_.host, faults));
    backend_.record({.kind = SweepEventKind::CardLeftOut,
                     .node = options_.host,
                     .card = card,
                     .failures = faults});
  }
}

/// Of a launch without budget: its parts are tried alone, so that a single cell is given up.
void Supervisor::give_up(std::size_t index, const LaunchRecord& record,
                         const RetryBook::Verdict& verdict) {
  const std::string end = end_text(record.end, record.code);
  const std::vector<LaunchPlan> parts = parts_of(queue_[index]);
  if (parts.empty()) {
    std::string why =
        fmt::format("its launch ended as {} {} times without progress ({} retries are allowed)",
                    end, verdict.failures, verdict.allowed);
    // Its peak is in it.
    if (record.end == LaunchEnd::OutOfMemory) why += peak_line(record.last_words);
    backend_.report_failed(queue_[index], record, why);
    backend_.record(given_up_event(record, verdict, why));
    queue_.give_up(index);
    retries_.streak().failed();
    if (code_ == ExitCode::Done) code_ = ExitCode::Partial;
    if (options_.fail_fast) end_with(ExitCode::Partial, "--fail-fast: stopping");
    return;
  }
  backend_.notify(
      fmt::format("launch {} of {} cells ended as {} {} times without progress: {} launches "
                  "take its place, to find the cell",
                  record.id, record.cells.size(), end, verdict.failures, parts.size()));
  replace(index, parts, record, verdict.not_before);
}

/// Parts take the place of a launch. Those of one that did not fit in memory may fit, so they have
/// budgets of their own.
void Supervisor::replace(std::size_t index, const std::vector<LaunchPlan>& parts,
                         const LaunchRecord& record, double not_before) {
  backend_.record({.kind = SweepEventKind::LaunchSplit,
                   .launch = record.id,
                   .end = std::string(name_of(record.end)),
                   .parts = std::ssize(parts)});
  for (const LaunchPlan& part : parts) {
    if (record.end == LaunchEnd::OutOfMemory) {
      retries_.follow(part.id, record.id);
    } else {
      retries_.take_over(part.id, record.id, record.end);
    }
  }
  queue_.replace(index, parts, not_before);
}

}  // namespace depthgrid
