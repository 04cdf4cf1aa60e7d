#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "sweeps/live/hang_judge.hpp"
#include "sweeps/live/life_sign.hpp"
#include "sweeps/live/work_phase.hpp"

namespace depthgrid {

/// What a rank did last.
struct LastSign {
  WorkPhase phase;
  std::int64_t step;  // of training; -1 before the first one
  double silent;      // s since the last sign of life
};

/// Keeps this rank's signs of life, judges by them whether its work goes on, and calls for an end
/// if it does not: a rank that waits for a dead peer, a device or a filesystem would wait for ever.
/// Every rank has one, from before MPI begins. How long it may be silent depends on the phase.
///
/// tick() asks nobody but the signs of life, so that what makes the work hang cannot hold it. It is
/// called by a thread that does nothing else.
///
/// The first rank of a team meets all others in every step, so its watchdog finds any of them that
/// hangs. They in turn wait for it while it evaluates, probes, packs or polls for a job: in
/// WorkPhase::Waiting they are not judged, since the first rank then is. If it ends, the launcher
/// ends them.
class Watchdog {
 public:
  using Expired = std::function<void(const LastSign& last)>;

  /// @param expired  called once, by tick().
  explicit Watchdog(HangLimit limit = hang_limit(-1), Expired expired = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// A sign of life: after every training step, batch of an evaluation, probe, or poll of the
  /// store.
  void beat() noexcept;
  /// The same, of a step of training.
  void beat(std::int64_t step) noexcept;

  /// Begins a phase, which is a sign of life, too. @return the phase before.
  WorkPhase enter(WorkPhase phase) noexcept;

  /// May be called by a signal handler.
  LastSign last() const noexcept;
  /// What it has seen so far, for who watches from outside.
  LifeSign life() const noexcept;

  /// s between two calls of tick().
  static constexpr double kPeriod = 0.25;
  /// Judges. @param now  s, monotonic.
  void tick(double now);

 private:
  std::atomic<std::int64_t> beats_{0}, step_{-1};
  std::atomic<std::int64_t> beaten_;  // ns, monotonic
  std::atomic<WorkPhase> phase_{WorkPhase::StartUp};
  HangJudge judge_;  // tick()'s own, as what follows
  Expired expired_;
};

/// A phase for the life of this object; then the one before.
class InPhase {
 public:
  InPhase(Watchdog& watchdog, WorkPhase phase) noexcept
      : watchdog_(watchdog), before_(watchdog.enter(phase)) {}
  ~InPhase() { watchdog_.enter(before_); }
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;

 private:
  Watchdog& watchdog_;
  WorkPhase before_;
};

/// What expired() does in a worker: says so on stderr and in the log, with phase and step, and ends
/// this process at once with ExitCode::Hang. Nothing is cleaned up, since that may hang, too; the
/// launcher ends the other ranks, and the same command resumes from the last checkpoint.
[[noreturn]] void end_hung(const LastSign& last) noexcept;

}  // namespace depthgrid
