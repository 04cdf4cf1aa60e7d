#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/cell_config.hpp"
#include "sweeps/launch/failure_class.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/queue/failure_streak.hpp"

namespace depthgrid {

/// The leaves retry.*.
struct RetryOptions {
  std::function<std::int64_t(std::string_view budget)> budget;  // a leaf of EndPolicy
  double backoff = 10;                // s before the first retry; three times as long each time
  std::int64_t breaker_failures = 5;  // more of one class …
  double breaker_window = 600;        // … within these seconds stop the supervisor
  std::int64_t stop_after_consecutive = 8;  // see FailureStreak
};

/// @param run  outlives them.
RetryOptions retry_options(const CellConfig& run);

/// What has failed how often, and when it may be tried again. Kept in memory: whoever starts anew
/// begins with full budgets, but what a cell itself has used up is in the store.
class RetryBook {
 public:
  explicit RetryBook(RetryOptions options)
      : options_(std::move(options)), streak_(options_.stop_after_consecutive) {}

  /// What to do after a launch ended.
  struct Verdict {
    bool gives_up = false;                   // the budget of its class is used up
    double not_before = 0;                   // s, on the caller's clock
    std::int64_t failures = 0, allowed = 0;  // without progress, of this class
  };
  /// @param job       id. @param progressed  cells were done or checkpoints made since its last
  /// end.
  /// @param now       s on a monotonic clock.
  Verdict ended(const std::string& job, LaunchEnd end, bool progressed, double now);

  /// A launch that takes over cells of `job`, which has used up the budget of `end`: its first
  /// failure of that kind without progress is its last, and counts as one of `job`.
  void take_over(const std::string& part, const std::string& job, LaunchEnd end);

  /// A launch of some cells of `job`, with budgets of its own. Its failures count as some of `job`.
  void follow(const std::string& part, const std::string& job);

  /// How launches have ended for good, in this order, for broken().
  FailureStreak& streak() noexcept { return streak_; }

  /// Why this supervisor should stop: too many in a row have failed for good, or more different
  /// launches than allowed have failed alike. Nothing while it may go on.
  std::optional<std::string> broken(double now) const;

 private:
  std::string origin_of(const std::string& job) const;
  std::int64_t allowed(LaunchEnd end) const;

  struct Failure {
    std::string job;  // its origin
    LaunchEnd end;
    double when;
  };
  RetryOptions options_;
  std::map<std::string, std::map<LaunchEnd, std::int64_t>> failures_;  // without progress
  std::map<std::string, std::string> origins_;  // of parts: the launch they were taken from
  std::vector<Failure> recent_;
  FailureStreak streak_;
};

/// That a launch is tried again after a pause in seconds.
SweepEvent again_event(const std::string& launch, LaunchEnd end, const RetryBook::Verdict& verdict,
                       double pause);
/// That its cells are given up. @param why  as in their reports.
SweepEvent given_up_event(const LaunchRecord& last, const RetryBook::Verdict& verdict,
                          const std::string& why);

/// Seconds before retry n (0 = first): base·3ⁿ ± 30 %, the same for the same job and n, so that the
/// jobs of a node that died do not come back at the same moment.
double backoff_seconds(double base, std::int64_t n, const std::string& job);

}  // namespace depthgrid
