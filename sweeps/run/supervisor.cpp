#include "sweeps/run/supervisor.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/last_lines.hpp"
#include "core/base/processes.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

constexpr double kPoll = 0.05, kIdlePoll = 0.5;

/// The last line in which a rank has told its peak, behind a colon; empty if none has.
std::string said_of_memory(const std::string& words) {
  const std::size_t at = words.rfind(kOutOfMemoryWords);
  return at == words.npos ? "" : ": " + words.substr(at, words.find('\n', at) - at);
}

/// What is planned anew, in smaller parts, has not failed.
bool splits(const LaunchRecord& record) {
  return record.end == LaunchEnd::OutOfMemory && record.cells.size() > 1;
}

}  // namespace

/// A launch that runs.
struct Supervisor::Watched {
  std::size_t index;
  std::int64_t attempt;
  Lease lease;
  SlotShare share;
  std::unique_ptr<RunningLaunch> process;
  double begun;
  HangJudge judge;
  std::int64_t progress;   // of its cells, when it began
  std::int64_t oom_kills;  // of the control group then
  bool hung = false;
};

Supervisor::Supervisor(const std::vector<LaunchPlan>& launches, const std::filesystem::path& store,
                       LeaseKeeper& leases, SupervisorOptions options, RetryOptions retries,
                       SupervisorBackend& backend)
    : store_(store),
      leases_(leases),
      options_(std::move(options)),
      retries_(std::move(retries)),
      backend_(backend),
      queue_(launches, options_.memory_bytes, backend),
      slots_(options_.slots, options_.gpus, options_.cores, options_.cores_per_rank),
      disk_(options_.disk_wait) {
  for (const LaunchPlan& launch : launches) {
    if (launch.ranks <= options_.slots) continue;
    throw UserError(ExitCode::Usage,
                    fmt::format("resources.ranks_per_job: a job wants {} ranks, but only {} fit "
                                "here at a time; allow more with -j {}, or set it lower",
                                launch.ranks, options_.slots, launch.ranks));
  }
}

Supervisor::~Supervisor() = default;

/// When the heartbeat of who has a launch, or cells of it, could have changed.
double Supervisor::after_a_heartbeat() const {
  return backend_.now() + std::chrono::duration<double>(leases_.ttl()).count() / 9;
}

/// Claims the launch for this supervisor and starts it. @return false if another one has it.
bool Supervisor::begin(std::size_t index) {
  const LaunchPlan& launch = queue_[index];
  const std::filesystem::path folder = launch_folder(store_, launch.id);
  make_folders(folder, leases_.fs());
  std::optional<Lease> lease;
  if (const bool free = leases_.looks_free(folder); backend_.inherit(launch) && free) {
    lease = leases_.try_acquire(folder);
  }
  if (!lease) {
    queue_.give_back(index, after_a_heartbeat());
    return false;
  }
  if (queue_.over_if_settled(index)) return false;  // by who had it just now
  const std::int64_t attempt = next_attempt(folder, leases_.fs());
  const std::int64_t progress = backend_.progress(launch);
  SlotShare share = slots_.take(launch.ranks);
  const double now = backend_.now();
  std::unique_ptr<RunningLaunch> process;
  try {
    process = backend_.start({.plan = launch,
                              .attempt = attempt,
                              .gpus = share.gpus,
                              .cores = share.cores,
                              .folder = folder,
                              .disk = &leases_.fs()});
  } catch (...) {
    slots_.give_back(share, false);
    throw;
  }
  running_.push_back(
      std::make_unique<Watched>(Watched{.index = index,
                                        .attempt = attempt,
                                        .lease = std::move(*lease),
                                        .share = std::move(share),
                                        .process = std::move(process),
                                        .begun = now,
                                        .judge = HangJudge(options_.hang, kBehindItsWatchdog),
                                        .progress = progress,
                                        .oom_kills = real_processes().oom_kills_so_far()}));
  backend_.record({.kind = SweepEventKind::LaunchBegan,
                   .launch = launch.id,
                   .attempt = attempt,
                   .cells = launch.cells});
  return true;
}

/// Starts the first launch that may start now. @return whether there was one.
bool Supervisor::start_one() {
  while (const auto next = queue_.take(slots_.free(), backend_.now())) {
    try {
      if (begin(*next)) return true;
    } catch (...) {
      queue_.give_back(*next, backend_.now());
      throw;
    }
  }
  return false;
}

void Supervisor::end_with(ExitCode code, const std::string& why) {
  if (code_ == ExitCode::Done || code_ == ExitCode::Partial) {
    code_ = code;
    if (!why.empty()) backend_.say(why);
  }
  if (stopping_since_ >= 0) return;
  backend_.record(
      {.kind = SweepEventKind::Stopping, .code = static_cast<int>(code), .message = why});
  stop_all();
}

void Supervisor::stop_all() {
  stopping_since_ = backend_.now();
  for (const auto& launch : running_) launch->process->ask_to_stop();
}

/// @param words  what it said last.
LaunchRecord Supervisor::record_of(const Watched& launch, LaunchEnd end, int code,
                                   const std::string& words) const {
  const LaunchPlan& plan = queue_[launch.index];
  std::string cause = launch.process->cause();
  if (cause.empty() && end == LaunchEnd::Infrastructure && tells_of_the_node(words)) cause = "card";
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
  // Before its record is written: if there is no room for that, another pause begins.
  if (end == LaunchEnd::Done || progressed) disk_.over();
  unwritten_.push_back(record);
  keep_records();
  if (end == LaunchEnd::Disk && stopping_since_ < 0 && waits_for_disk(words)) return;
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
  if (queue_.over_if_settled(index) || end == LaunchEnd::Stopped) return;
  // Others hold some of its cells.
  if (end == LaunchEnd::Done) return queue_.give_back(index, after_a_heartbeat());
  try_again(index, record, verdict);
  if (const auto broken = retries_.broken(now)) end_with(ExitCode::Failed, *broken);
}

/// Of a launch that has failed: in parts, not at all, or as it is.
void Supervisor::try_again(std::size_t index, const LaunchRecord& record,
                           const RetryBook::Verdict& verdict) {
  if (splits(record)) {
    backend_.say(fmt::format("launch {} of {} cells does not fit in memory: it is split", record.id,
                             record.cells.size()));
    replace(index, smaller_parts_of(queue_[index]), record, verdict.not_before);
  } else if (verdict.gives_up) {
    give_up(index, record, verdict);
  } else {
    queue_.give_back(index, verdict.not_before);
    const double pause = std::max(0.0, verdict.not_before - backend_.now());
    backend_.say(fmt::format("launch {} of {} cells ended as {} after {}; again in {:.0f} s",
                             record.id, record.cells.size(), end_text(record.end, record.code),
                             clock_text(record.seconds), pause));
    backend_.record(again_event(record.id, record.end, verdict, pause));
  }
}

/// What the disk has no room for is kept for later. @throws StorageError if it is not waited for.
void Supervisor::keep_records() {
  while (!unwritten_.empty()) {
    try {
      keep_record(store_, unwritten_.front(), leases_.fs());
    } catch (const StorageError& error) {
      if (stopping_since_ < 0 && waits_for_disk(error.what())) return;
      unwritten_.erase(unwritten_.begin());  // it must not keep others from being written
      throw;
    }
    unwritten_.erase(unwritten_.begin());
  }
}

/// @param words  why something could not be written. @return false if the run should end.
bool Supervisor::waits_for_disk(const std::string& words) {
  const double now = backend_.now();
  const bool first = !disk_.on(now);
  if (!disk_.failed(words, now)) return false;
  if (first) {
    backend_.say(
        fmt::format("the store has no room: no launch starts; one is tried every {:.0f} s, "
                    "for {} (retry.disk_wait). What was said:\n{}",
                    disk_.every(), clock_text(options_.disk_wait), words));
    backend_.record({.kind = SweepEventKind::DiskFull, .seconds = disk_.every(), .message = words});
  }
  return true;
}

/// A launch that ended in order has failed if it has left no result.
void Supervisor::note_success(const LaunchPlan& plan) {
  if (std::ranges::any_of(plan.rows, [&](std::size_t row) { return backend_.done(row); })) {
    retries_.streak().succeeded();
  } else if (std::ranges::all_of(plan.rows,
                                 [&](std::size_t row) { return backend_.settled(row); })) {
    retries_.streak().failed();
  }
}

void Supervisor::return_share(const SlotShare& share, LaunchEnd end) {
  for (const auto& [card, faults] : slots_.give_back(share, end == LaunchEnd::Infrastructure)) {
    backend_.say(fmt::format("card {} of {} is left out: {} launches on it ended as infrastructure",
                             card, options_.host, faults));
    backend_.record({.kind = SweepEventKind::CardLeftOut,
                     .node = options_.host,
                     .card = card,
                     .failures = faults});
  }
}

/// Of a run in which nothing is left to do here: what others must do, with more cards.
ExitCode Supervisor::code_at_end() {
  if (const LaunchPlan* const launch = queue_.left_beyond(slots_.all())) {
    const std::string left =
        slots_.all() < 1 ? "no card" : fmt::format("only {} cards", slots_.all());
    end_with(ExitCode::TempFail, fmt::format("a launch of {} ranks is left, and {} of {}: stopping",
                                             launch->ranks, left, options_.host));
  }
  return code_;
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
    if (record.end == LaunchEnd::OutOfMemory) why += said_of_memory(record.last_words);
    backend_.report_failed(queue_[index], record, why);
    backend_.record(given_up_event(record, verdict, why));
    queue_.give_up(index);
    retries_.streak().failed();
    if (code_ == ExitCode::Done) code_ = ExitCode::Partial;
    if (options_.fail_fast) end_with(ExitCode::Partial, "--fail-fast: stopping");
    return;
  }
  backend_.say(
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

/// Looks at every launch once.
void Supervisor::watch() {
  const double now = backend_.now();
  std::vector<std::unique_ptr<Watched>> still;
  std::vector<std::pair<std::unique_ptr<Watched>, int>> over;
  for (auto& launch : running_) {
    const std::optional<int> code = launch->process->poll();  // then news() has all it told
    for (const LiveEvent& event : launch->process->news()) backend_.hear(event);
    if (code) {
      over.emplace_back(std::move(launch), *code);
      continue;
    }
    const LifeSign sign = launch->process->life();
    const auto silent = launch->judge.look(sign.beats, sign.phase, now);
    if (silent && !launch->hung) {
      backend_.say(
          fmt::format("launch {} has given no sign of life for {} in phase '{}' (resources.hang): "
                      "it is ended as hung",
                      queue_[launch->index].id, clock_text(*silent), rule_of(sign.phase).name));
      launch->hung = true;
      launch->process->kill_hung();
    }
    still.push_back(std::move(launch));
  }
  running_ = std::move(still);
  for (auto& [launch, code] : over) {
    or_end([&] { ended(*launch, code); });
  }
}

/// A store that cannot be written ends the run in order: all launches stop with their checkpoints.
void Supervisor::or_end(const std::function<void()>& action) {
  try {
    action();
  } catch (const StorageError& error) {
    if (stopping_since_ < 0 && waits_for_disk(error.what())) return;
    end_with(error.code(), error.what());
  }
}

/// All launches that fit; while the disk is full, one of them.
void Supervisor::start_what_may() {
  if (disk_.holds(backend_.now())) return;
  keep_records();
  while (start_one()) {
    if (!disk_.on(backend_.now())) continue;
    return disk_.tried(backend_.now());
  }
}

ExitCode Supervisor::run() {
  while (true) {
    watch();
    if (stopping_since_ < 0 && backend_.stop_asked()) {
      end_with(ExitCode::TempFail,
               running_.empty() ? "" : "stopping: launches write their checkpoints");
    }
    if (stopping_since_ >= 0) {
      if (running_.empty()) return code_;
      if (backend_.now() - stopping_since_ > options_.grace) {
        for (const auto& launch : running_) launch->process->kill();
      }
    } else {
      const bool late = backend_.time_left() <= 0;
      if (!late) or_end([&] { start_what_may(); });
      if (running_.empty() && (late || !queue_.any_within(slots_.all()))) {
        if (!queue_.left_within(slots_.all())) return code_at_end();
        if (late) {
          end_with(ExitCode::TempFail,
                   "the allocation ends too soon for another launch; the rest is left to others");
        }
      }
    }
    backend_.wait(running_.empty() ? kIdlePoll : kPoll);
  }
}

}  // namespace depthgrid
