#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sweeps/plan/job_plan.hpp"

namespace depthgrid {

/// What decides when a job may start.
struct JobNeeds {
  std::int64_t ranks = 1;
  double bytes = 0;                  // of a memory that all that run share; NaN = unknown
  bool alone = false;                // nothing else may run beside it
  std::vector<std::size_t> after{};  // the jobs that it starts from
};

/// Jobs in the order of the plan, handed out by the rules of a run: whoever is free takes the first
/// job whose sources are done and that fits beside those that run. The one definition of that rule:
/// predicted_makespan() and simulate() ask it, and so does a supervisor (sweeps/run/launch_queue),
/// so that what is predicted is what is done.
///
/// A job waits for its sources, then is ready, or rests until its time; it is taken, and given back
/// or done. Times are those of the caller's clock, in s.
class ReadyJobs {
 public:
  /// @param memory_bytes  for all that are taken at the same time; 0 = not limited.
  explicit ReadyJobs(const std::vector<JobNeeds>& jobs, double memory_bytes = 0);
  /// Sources that are not among the jobs count as done.
  explicit ReadyJobs(const std::vector<FusedJob>& jobs);

  /// Takes the first ready job of at most `ranks` ranks that fits into the memory and disturbs none
  /// that must be alone; none if there is none. A job alone fits whatever its bytes are, and one of
  /// unknown bytes fits always.
  std::optional<std::size_t> take(std::int64_t ranks, double now = 0);

  /// A job has ended, or another process has done it: those that wait only for it become ready.
  void done(std::size_t job);

  /// A job that was taken was interrupted, or is not to be had before a time: it keeps its place.
  void give_back(std::size_t job, double not_before = 0);

  /// A job that was done is to be done again: what has not begun and starts from it waits anew.
  void reopen(std::size_t job);

  /// Other jobs take the place of one, behind all others: what waits for it waits for all of them.
  /// Their numbers follow size().
  void replace(std::size_t job, const std::vector<JobNeeds>& parts, double not_before = 0);

  bool all_done() const { return left_ == 0; }
  std::size_t size() const { return jobs_.size(); }
  bool is_done(std::size_t job) const { return jobs_[job].state == State::Done; }
  bool is_taken(std::size_t job) const { return jobs_[job].state == State::Taken; }
  /// Whether it could start but for its time and the capacity that it needs, and others wait for
  /// it.
  bool is_awaited(std::size_t job) const;
  /// Whether one that is ready or rests has at most so many ranks.
  bool any_within(std::int64_t ranks) const;

 private:
  enum class State : std::uint8_t { Waiting, Resting, Ready, Taken, Done };
  struct Job {
    JobNeeds needs;
    double not_before = 0;
    State state = State::Waiting;
    std::size_t sources = 0;               // that are not done
    std::vector<std::size_t> followers{};  // which start from it
  };
  void add(const std::vector<JobNeeds>& jobs, double not_before);
  void move(std::size_t job, State to);
  void wait_or_rest(std::size_t job);

  double memory_bytes_ = 0, now_ = 0;
  std::vector<Job> jobs_;
  std::map<std::pair<std::int64_t, bool>, std::set<std::size_t>> ready_;  // by ranks and `alone`
  std::set<std::pair<double, std::size_t>> resting_;                      // by their times
  std::set<std::size_t> taken_;
  std::size_t left_ = 0;
};

}  // namespace depthgrid
