#pragma once

#include <chrono>
#include <string>

namespace depthgrid {

/// Seconds of a monotonic clock since this object was made.
class Stopwatch {
 public:
  double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds since 1970-01-01T00:00:00Z, for provenance only: instants of two hosts are never
/// compared.
double unix_time();

/// "2026-03-01T12:00:00Z" of an instant as unix_time() gives it.
std::string iso_utc(double unix_seconds);

}  // namespace depthgrid
