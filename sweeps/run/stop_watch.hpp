#pragma once

#include <csignal>
#include <deque>

#include "core/base/held_signals.hpp"

namespace depthgrid {

/// INT, TERM, USR1, USR2 and HUP of this process while this object lives: they are blocked and
/// polled for, so that no handler and no global is needed. Made before any thread is started,
/// whose mask is this one's. Children of ChildProcess have all signals open. HUP that this process
/// ignores, as behind `nohup`, stays ignored.
class StopWatch {
 public:
  /// @param asked  a signal that has come before, as who started this process says; 0 = none.
  explicit StopWatch(int asked = 0);
  /// From now on these signals end the process at once, with TempFail: what is left is a summary,
  /// which the same command makes again.
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  /// Waits so long, or until a signal arrives or a child ends.
  void wait(double seconds);
  /// The next signal that has arrived and was not yet taken; 0 = none.
  int take();
  /// Waits so long unless a signal has arrived, or does. @return whether none has.
  bool wait_unasked(double seconds);
  /// True once a signal has arrived.
  bool asked() const noexcept { return count_ > 0; }
  /// The first of them; 0 before. TERM, INT and HUP say that somebody wants an end, USR1 and USR2
  /// only that the time is up.
  int first() const noexcept { return first_; }
  /// True after a second one: leave at once.
  bool insisted() const noexcept { return count_ > 1; }

 private:
  sigset_t watched_{}, before_{};
  int count_ = 0, first_ = 0;
  std::deque<int> arrived_;
};

/// While it lives, Ctrl-Z (TSTP) does not stop this process at once: its owner first stops what it
/// has started, which has process groups of its own.
class Suspension {
 public:
  /// Whether it was typed since the last call.
  bool asked() const;
  /// Stops this process as TSTP would have, and returns when it continues: at once where no shell
  /// of its session could continue it, as behind `ssh -t`, since the system stops nothing there.
  void suspend() const;

 private:
  HeldSignals held_{SIGTSTP};
};

}  // namespace depthgrid
