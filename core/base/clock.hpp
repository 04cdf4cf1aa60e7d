#pragma once

#include <chrono>
#include <string>

namespace depthgrid {

/// Time, as far as sweeps need it. They go by it and by nothing else (cmake/check_seams.cmake), so
/// that hours may pass in a test at once (tests/support/pretended_clock.hpp).
///
/// May be used by several threads.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds on a monotonic clock; only differences say anything.
  virtual double now() const = 0;
  /// As unix_time().
  virtual double unix_time() const = 0;
  /// Returns after so many seconds.
  virtual void wait(double seconds) const = 0;
};

/// This machine's: it holds no state.
const Clock& real_clock();

/// Seconds on a monotonic clock since construction.
class Stopwatch {
 public:
  double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds since 1970-01-01T00:00:00Z. For provenance only: never compare times of two hosts.
double unix_time();

/// Formats a unix_time() as "2026-03-01T12:00:00Z".
std::string iso_utc(double unix_seconds);

}  // namespace depthgrid
