#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace depthgrid {

/// Jobs in a row that have failed for good: what they share may be wrong, and trying all others
/// would cost as much and find the same.
class FailureStreak {
 public:
  /// @param most  leaf retry.stop_after_consecutive.
  explicit FailureStreak(std::int64_t most) : most_(most) {}

  /// A job has failed for good: no attempt at it will follow in this run.
  void failed() noexcept { ++failed_; }
  /// A job has left a result.
  void succeeded() noexcept { failed_ = 0; }

  /// Why the run should stop; nothing while it may go on.
  std::optional<std::string> over() const;

 private:
  std::int64_t most_, failed_ = 0;
};

}  // namespace depthgrid
