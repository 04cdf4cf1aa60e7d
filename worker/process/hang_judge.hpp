#pragma once

#include <cstdint>
#include <optional>

namespace depthgrid {

/// Decides from signs of life whether a process hangs. Pure: time comes from outside.
class HangJudge {
 public:
  /// @param limit  s without a sign of life; none: fifteen minutes, or twenty times the longest
  ///               pause seen so far where that is longer.
  explicit HangJudge(std::optional<double> limit) : limit_(limit) {}

  /// One look. A look that comes more than five seconds after the last one tells nothing: this
  /// process itself, or the machine, was stopped meanwhile, and the watch begins anew.
  /// @param beats  signs of life so far. @param now  s, monotonic.
  /// @return seconds without one, if they are too many.
  std::optional<double> look(std::int64_t beats, double now);

  double limit() const;

 private:
  std::optional<double> limit_;
  std::int64_t beats_ = -1;
  double since_ = 0, last_look_ = 0, longest_ = 0;
};

}  // namespace depthgrid
