#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace depthgrid {

/// Calls a function now and then from a thread of its own, which gets no signals. What is called is
/// an object with a tick, whose tests pretend the time and need no thread.
///
/// One ticker does one kind of work, since work that waits for a disk, a terminal or a device holds
/// all that shares its thread.
class Ticker {
 public:
  using Tick = std::function<void(double now)>;

  /// @param name    of the work, in the log: what it throws is logged there, and ends nothing.
  /// @param period  s before the first call, and from the end of each one to the next: what was
  ///                missed is not caught up with.
  /// @param tick    gets real_clock().now().
  /// @param last    the same, called once, by the same thread, when it stops.
  /// @throws std::system_error if there can be no thread.
  Ticker(std::string name, double period, Tick tick, Tick last = {});
  /// Calls stop().
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  /// Returns when nothing is called any more: a period that has begun is not waited for, a call
  /// that has begun is. Not from within the work.
  void stop();

 private:
  void run();
  void call(const Tick& work) const;

  std::string name_;
  std::chrono::duration<double> period_;
  Tick tick_, last_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace depthgrid
