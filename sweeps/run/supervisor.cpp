#include "sweeps/run/supervisor.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/processes.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

constexpr double kPoll = 0.05, kIdlePoll = 0.5;

}  // namespace

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
  if (const bool free = leases_.appears_free(folder); backend_.inherit(launch) && free) {
    lease = leases_.try_acquire(folder);
  }
  if (!lease) {
    queue_.give_back(index, after_a_heartbeat());
    return false;
  }
  if (queue_.over_if_finalised(index)) return false;  // by who had it just now
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
    if (!why.empty()) backend_.notify(why);
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

/// What the disk has no space for is kept for later. @throws StorageError if it is not waited for.
void Supervisor::keep_records() {
  while (!unwritten_.empty()) {
    try {
      keep_record(store_, unwritten_.front(), leases_.fs());
    } catch (const StorageError& error) {
      if (stopping_since_ < 0 && waits_for_disk(error.what(), true)) return;
      unwritten_.erase(unwritten_.begin());  // it must not keep others from being written
      throw;
    }
    unwritten_.erase(unwritten_.begin());
  }
}

/// Records that the disk had no space for are tried for the last time.
ExitCode Supervisor::ended_with(ExitCode code) {
  for (const LaunchRecord& record : std::exchange(unwritten_, {})) {
    try {
      keep_record(store_, record, leases_.fs());
    } catch (const StorageError& error) {
      backend_.notify(
          fmt::format("how launch {} ended is not recorded: {}", record.id, error.what()));
    }
  }
  return code;
}

/// @param words, whole  as of DiskPause::failed(). @return false if the run should end.
bool Supervisor::waits_for_disk(const std::string& words, bool whole) {
  const double now = backend_.now();
  const bool first = !disk_.on(now);
  if (!disk_.failed(words, now, whole)) return false;
  if (first) {
    backend_.notify(
        fmt::format("the store's disk is full: no launch starts; one is tried every {:.0f} s, "
                    "for {} (retry.disk_wait). What was said:\n{}",
                    disk_.every(), clock_text(options_.disk_wait), words));
    backend_.record({.kind = SweepEventKind::DiskFull, .seconds = disk_.every(), .message = words});
  }
  return true;
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

/// Checks every launch once.
void Supervisor::watch() {
  const double now = backend_.now();
  std::vector<std::unique_ptr<Watched>> still;
  std::vector<std::pair<std::unique_ptr<Watched>, int>> over;
  for (auto& launch : running_) {
    const std::optional<int> code = launch->process->poll();  // then news() has all it reported
    for (const LiveEvent& event : launch->process->news()) backend_.receive(event);
    if (code) {
      over.emplace_back(std::move(launch), *code);
      continue;
    }
    const LifeSign sign = launch->process->life();
    const auto silent = launch->judge.observe(sign.beats, sign.phase, now);
    if (silent && !launch->hung) {
      backend_.notify(fmt::format(
          "no heartbeat from launch {} for {} in phase '{}' (resources.hang): killing it as hung",
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
    if (stopping_since_ < 0 && waits_for_disk(error.what(), true)) return;
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
      if (running_.empty()) return ended_with(code_);
      if (backend_.now() - stopping_since_ > options_.grace) {
        for (const auto& launch : running_) launch->process->kill();
      }
    } else {
      const bool late = backend_.time_left() <= 0;
      if (!late) or_end([&] { start_what_may(); });
      if (running_.empty() && (late || !queue_.any_within(slots_.all()))) {
        if (!queue_.left_within(slots_.all())) return ended_with(code_at_end());
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
