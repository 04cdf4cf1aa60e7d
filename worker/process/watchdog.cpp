#include "worker/process/watchdog.hpp"

#include <ctime>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/exit_code.hpp"
#include "core/base/log.hpp"
#include "worker/process/end_note.hpp"

namespace depthgrid {
namespace {

static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(std::atomic<WorkPhase>::is_always_lock_free);

/// ns; std::chrono's clock is not promised to be safe in a signal handler.
std::int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Watchdog::Watchdog(HangLimit limit, Expired expired)
    : beaten_(monotonic_ns()), judge_(limit), expired_(std::move(expired)) {}

void Watchdog::beat() noexcept {
  beaten_.store(monotonic_ns(), std::memory_order_relaxed);
  beats_.fetch_add(1, std::memory_order_release);
}

void Watchdog::beat(std::int64_t step) noexcept {
  step_.store(step, std::memory_order_relaxed);
  beat();
}

WorkPhase Watchdog::enter(WorkPhase phase) noexcept {
  beat();  // first: whoever sees the new phase must not count the silence of the one before
  return phase_.exchange(phase, std::memory_order_acq_rel);
}

LastSign Watchdog::last() const noexcept {
  const std::int64_t passed = monotonic_ns() - beaten_.load(std::memory_order_relaxed);
  return {.phase = phase_.load(std::memory_order_relaxed),
          .step = step_.load(std::memory_order_relaxed),
          .silent = static_cast<double>(passed) * 1e-9};
}

LifeSign Watchdog::life() const noexcept {
  // The phase first: whoever sees a new one sees the sign of life with which it began.
  const WorkPhase phase = phase_.load(std::memory_order_acquire);
  return {.phase = phase, .beats = beats_.load(std::memory_order_acquire)};
}

void Watchdog::tick(double now) {
  const LifeSign sign = life();
  if (!judge_.observe(sign.beats, sign.phase, now) || !expired_) return;
  std::exchange(expired_, nullptr)(last());
}

void end_hung(const LastSign& last) noexcept {
  const std::string step = last.step < 0 ? "" : fmt::format(" after step {}", last.step);
  log(LogLevel::Error,
      fmt::format("no sign of life for {:.0f} s in phase '{}'{} (resources.hang): this process "
                  "hangs and ends itself; the same command goes on from the last checkpoint",
                  last.silent, rule_of(last.phase).name, step));
  note_end(static_cast<int>(ExitCode::Hang));
  _exit(static_cast<int>(ExitCode::Hang));
}

}  // namespace depthgrid
