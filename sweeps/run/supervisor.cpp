#include "sweeps/run/supervisor.hpp"

#include <algorithm>
#include <cmath>
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
  std::int64_t state;      // state_of() when it began
  std::int64_t oom_kills;  // of the control group then
  bool hung = false;
};

Supervisor::Supervisor(std::vector<LaunchPlan> launches, const std::filesystem::path& store,
                       LeaseKeeper& leases, SupervisorOptions options, RetryOptions retries,
                       SupervisorBackend& backend)
    : store_(store),
      leases_(leases),
      options_(std::move(options)),
      retries_(std::move(retries)),
      backend_(backend),
      slots_(options_.slots, options_.gpus, options_.cores, options_.cores_per_rank),
      disk_(options_.disk_wait) {
  for (LaunchPlan& launch : launches) {
    if (launch.ranks > options_.slots) {
      throw UserError(ExitCode::Usage,
                      fmt::format("resources.ranks_per_job: a job wants {} ranks, but only {} fit "
                                  "here at a time; allow more with -j {}, or set it lower",
                                  launch.ranks, options_.slots, launch.ranks));
    }
    launches_.push_back({.plan = std::move(launch)});
  }
}

Supervisor::~Supervisor() = default;

bool Supervisor::open(std::size_t index) const {
  const Entry& launch = launches_[index];
  if (!launch.parts.empty()) {
    return std::ranges::any_of(launch.parts, [&](std::size_t part) { return open(part); });
  }
  return !launch.set_aside && !std::ranges::all_of(launch.plan.rows, [&](std::size_t row) {
    return backend_.settled(row);
  });
}

/// Grows whenever a cell is settled or has a newer checkpoint.
std::int64_t Supervisor::state_of(const LaunchPlan& plan) const {
  std::int64_t sum = 0;
  for (const std::size_t row : plan.rows) {
    sum += backend_.settled(row) ? std::int64_t{1} << 32 : backend_.checkpoint(row);
  }
  return sum;
}

/// Whether the launch, or one that runs, must be alone.
bool Supervisor::disturbs(std::size_t index) const {
  const auto alone = [&](std::size_t i) { return backend_.runs_alone(launches_[i].plan.ranks); };
  if (running_.empty()) return false;
  return alone(index) ||
         std::ranges::any_of(running_, [&](const auto& other) { return alone(other->index); });
}

Supervisor::Wish Supervisor::wish_for(std::size_t index) {
  const LaunchPlan& launch = launches_[index].plan;
  if (!launches_[index].parts.empty()) return Wish::Nothing;
  const bool runs =
      std::ranges::any_of(running_, [&](const auto& other) { return other->index == index; });
  if (runs) return Wish::Wait;
  if (out_of_reach(index)) return Wish::Nothing;
  if (backend_.now() < launches_[index].not_before) return Wish::Wait;
  // What needs no look at the store comes first. With nothing running, both pass.
  if (launch.ranks > slots_.free() && !running_.empty()) return Wish::Wait;
  if (disturbs(index)) return Wish::Wait;
  double bytes = launch.bytes;
  for (const auto& other : running_) bytes += launches_[other->index].plan.bytes;
  const bool fits = running_.empty() || options_.memory_bytes <= 0 || std::isnan(bytes) ||
                    bytes <= options_.memory_bytes;
  if (!fits) return Wish::Wait;
  if (!open(index)) return Wish::Nothing;
  const auto waits_for = [&](std::size_t source) { return open(source); };
  return std::ranges::any_of(launch.after, waits_for) ? Wish::Wait : Wish::Start;
}

/// Takes the launch for this supervisor and starts it. @return false if another one has it.
bool Supervisor::begin(std::size_t index) {
  const LaunchPlan& launch = launches_[index].plan;
  const std::filesystem::path folder = launch_folder(store_, launch.id);
  make_folders(folder, leases_.fs());
  std::optional<Lease> lease;
  if (const bool free = leases_.looks_free(folder); backend_.inherit(launch) && free) {
    lease = leases_.try_acquire(folder);
  }
  if (!lease || !open(index)) {
    // Theirs for now; another look when its heartbeat could have changed.
    launches_[index].not_before =
        backend_.now() + std::chrono::duration<double>(leases_.ttl()).count() / 9;
    return false;
  }
  const std::int64_t attempt = next_attempt(folder, leases_.fs());
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
                                        .state = state_of(launch),
                                        .oom_kills = real_processes().oom_kills_so_far()}));
  backend_.record({.kind = SweepEventKind::LaunchBegan,
                   .launch = launch.id,
                   .attempt = attempt,
                   .cells = launch.cells});
  return true;
}

/// Starts the first launch that may start now. @return whether there was one.
bool Supervisor::start_one() {
  if (slots_.free() < 1) return false;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (wish_for(i) == Wish::Start && begin(i)) return true;
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
  const LaunchPlan& plan = launches_[launch.index].plan;
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
  Entry& entry = launches_[launch.index];
  const LaunchPlan& plan = entry.plan;
  const std::string words = last_lines(launch_folder(store_, plan.id) / attempt_log(launch.attempt),
                                       kLastWords, leases_.fs());
  LaunchEnd end = end_of(code, words, real_processes().oom_kills_so_far() - launch.oom_kills);
  if (launch.hung) end = LaunchEnd::Hang;
  const LaunchRecord record = record_of(launch, end, code, words);
  backend_.record(end_event(record));
  return_share(launch.share, end);
  unwritten_.push_back(record);
  keep_records();
  const bool progressed = state_of(plan) > launch.state;
  const double now = backend_.now();
  if (end == LaunchEnd::Done || progressed) disk_.over();
  if (end == LaunchEnd::Disk && stopping_since_ < 0 && waits_for_disk(words)) return;
  const RetryBook::Verdict verdict = splits(record) ? RetryBook::Verdict{.not_before = now}
                                                    : retries_.ended(plan.id, end, progressed, now);
  entry.not_before = verdict.not_before;
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
  if (!open(launch.index) || end == LaunchEnd::Stopped) return;
  if (end == LaunchEnd::Done) {  // others hold some of its cells
    entry.not_before = now + std::chrono::duration<double>(leases_.ttl()).count() / 9;
    return;
  }
  try_again(launch.index, record, verdict);
  if (const auto broken = retries_.broken(now)) end_with(ExitCode::Failed, *broken);
}

/// Of a launch that has failed: in parts, not at all, or as it is.
void Supervisor::try_again(std::size_t index, const LaunchRecord& record,
                           const RetryBook::Verdict& verdict) {
  if (splits(record)) {
    backend_.say(fmt::format("launch {} of {} cells does not fit in memory: it is split", record.id,
                             record.cells.size()));
    replace(index, smaller_parts_of(launches_[index].plan), record, verdict.not_before);
  } else if (verdict.gives_up) {
    give_up(index, record, verdict);
  } else {
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

/// Whether it needs more cards than are left here, or waits for one that does.
bool Supervisor::out_of_reach(std::size_t index) const {
  if (slots_.all() >= options_.slots) return false;
  const auto also = [&](std::size_t i) { return out_of_reach(i); };
  const Entry& launch = launches_[index];
  if (!launch.parts.empty()) return std::ranges::any_of(launch.parts, also);
  if (launch.plan.ranks <= slots_.all() && !std::ranges::any_of(launch.plan.after, also)) {
    return false;
  }
  return open(index);
}

/// Of a run in which nothing is left to do here: what others must do, with more cards.
ExitCode Supervisor::code_at_end() {
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const Entry& launch = launches_[i];
    if (!launch.parts.empty() || launch.plan.ranks <= slots_.all() || !out_of_reach(i)) continue;
    const std::string left =
        slots_.all() < 1 ? "no card" : fmt::format("only {} cards", slots_.all());
    end_with(ExitCode::TempFail, fmt::format("a launch of {} ranks is left, and {} of {}: stopping",
                                             launch.plan.ranks, left, options_.host));
    break;
  }
  return code_;
}

/// Of a launch without budget: its parts are tried alone, so that a single cell is set aside.
void Supervisor::give_up(std::size_t index, const LaunchRecord& record,
                         const RetryBook::Verdict& verdict) {
  const std::string end = end_text(record.end, record.code);
  std::vector<LaunchPlan> parts = parts_of(launches_[index].plan);
  if (parts.empty()) {
    std::string why =
        fmt::format("its launch ended as {} {} times without progress ({} retries are allowed)",
                    end, verdict.failures, verdict.allowed);
    // Its peak is in it.
    if (record.end == LaunchEnd::OutOfMemory) why += said_of_memory(record.last_words);
    backend_.set_aside(launches_[index].plan, record, why);
    backend_.record(given_up_event(record, verdict, why));
    launches_[index].set_aside = true;
    retries_.streak().failed();
    if (code_ == ExitCode::Done) code_ = ExitCode::Partial;
    if (options_.fail_fast) end_with(ExitCode::Partial, "--fail-fast: stopping");
    return;
  }
  backend_.say(
      fmt::format("launch {} of {} cells ended as {} {} times without progress: {} launches "
                  "take its place, to find the cell",
                  record.id, record.cells.size(), end, verdict.failures, parts.size()));
  replace(index, std::move(parts), record, verdict.not_before);
}

/// Parts take the place of a launch. Those of one that did not fit in memory may fit, so they have
/// budgets of their own.
void Supervisor::replace(std::size_t index, std::vector<LaunchPlan> parts,
                         const LaunchRecord& record, double not_before) {
  backend_.record({.kind = SweepEventKind::LaunchSplit,
                   .launch = record.id,
                   .end = std::string(name_of(record.end)),
                   .parts = std::ssize(parts)});
  for (LaunchPlan& part : parts) {
    if (record.end == LaunchEnd::OutOfMemory) {
      retries_.follow(part.id, record.id);
    } else {
      retries_.take_over(part.id, record.id, record.end);
    }
    launches_[index].parts.push_back(launches_.size());
    launches_.push_back({.plan = std::move(part), .not_before = not_before});
  }
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
      backend_.say(fmt::format(
          "launch {} has given no sign of life for {} in phase '{}' (resources.hang): "
          "it is ended as hung",
          launches_[launch->index].plan.id, clock_text(*silent), rule_of(sign.phase).name));
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
      bool left = !running_.empty();
      for (std::size_t i = 0; !left && i < launches_.size(); ++i) {
        left = wish_for(i) != Wish::Nothing;
      }
      if (!left) return code_at_end();
      if (late && running_.empty()) {
        end_with(ExitCode::TempFail,
                 "the allocation ends too soon for another launch; the rest is left to others");
      }
    }
    backend_.wait(running_.empty() ? kIdlePoll : kPoll);
  }
}

}  // namespace depthgrid
