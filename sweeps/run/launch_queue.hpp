#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/plan/ready_jobs.hpp"

namespace depthgrid {

class SupervisorBackend;

/// The launches of a supervisor, and which of them starts next: by the rules of ReadyJobs, and less
/// those whose cells other processes of the store have finalised.
///
/// The store is asked of a launch when its turn comes, and once a second of a few others, in turn:
/// those for which other launches wait, and those that ended without a result, since `depthgrid
/// retry` undoes a cancellation. All are asked once before the supervisor leaves. A poll that
/// starts nothing costs no more than that, however many launches there are.
class LaunchQueue {
 public:
  /// @param memory_bytes  for all launches that run; 0 = not limited. @param backend  outlives
  /// this.
  LaunchQueue(const std::vector<LaunchPlan>& launches, double memory_bytes,
              SupervisorBackend& backend);

  /// It stays where it is.
  const LaunchPlan& operator[](std::size_t index) const { return launches_[index]; }

  /// Takes the first launch that may start in so many free slots. @param now  s, monotonic.
  std::optional<std::size_t> take(std::int64_t slots, double now);
  /// One that was taken does not run, or no longer: it may be taken again from that time on.
  void give_back(std::size_t index, double not_before) { ready_.give_back(index, not_before); }
  /// @return whether all of its cells are finalised; then it is over.
  bool over_if_finalised(std::size_t index);
  /// It is over whatever its cells are: nothing more is tried.
  void give_up(std::size_t index) { ready_.done(index); }
  /// Parts take its place.
  void replace(std::size_t index, const std::vector<LaunchPlan>& parts, double not_before);

  /// Whether a launch could start, now or later, in so many slots, as far as the store was asked.
  bool any_within(std::int64_t slots) const { return ready_.any_within(slots); }
  /// The same after all launches that do not run were asked for.
  bool left_within(std::int64_t slots);
  /// The first launch that is left and needs more slots.
  const LaunchPlan* left_beyond(std::int64_t slots) const;

 private:
  bool finalised(std::size_t index) const;
  std::vector<JobNeeds> needs_of(const std::vector<LaunchPlan>& launches) const;
  void review(std::size_t index);
  void review_some(double now);

  SupervisorBackend& backend_;
  std::deque<LaunchPlan> launches_;
  ReadyJobs ready_;
  std::set<std::size_t> without_result_;  // over, but for a user who may want them tried again
  std::size_t reviewed_ = 0;              // the last one
  double next_review_ = 0;                // time of it
};

}  // namespace depthgrid
