#pragma once

#include <chrono>
#include <string>

namespace depthgrid {

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
