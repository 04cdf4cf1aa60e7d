#pragma once

#include <csignal>
#include <initializer_list>
#include <thread>
#include <utility>

namespace depthgrid {

/// Signals that the calling thread does not get while this object lives: they wait. Threads that it
/// starts meanwhile do not get them either, for good.
class HeldSignals {
 public:
  /// All that can be held.
  HeldSignals() noexcept;
  explicit HeldSignals(std::initializer_list<int> numbers) noexcept;
  /// The thread's signals are what they were before.
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& held() const noexcept { return held_; }

 private:
  void hold() noexcept;

  sigset_t held_{}, before_{};
};

/// Starts a thread that gets no signals: they belong to the main thread, and their handlers must
/// not run on this one. @throws std::system_error if there can be none
template <class Work>
std::thread thread_without_signals(Work&& work) {
  const HeldSignals all;
  return std::thread(std::forward<Work>(work));
}

}  // namespace depthgrid
