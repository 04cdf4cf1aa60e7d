#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sweeps/plan/job_plan.hpp"

namespace depthgrid {

/// Jobs in the order of the plan, handed out as a run does it: whoever is free takes the first job
/// that fits and whose sources are done. Shared by predicted_makespan() and simulate().
class ReadyJobs {
 public:
  /// Sources that are not among the jobs count as done. `jobs` need not outlive this.
  explicit ReadyJobs(const std::vector<FusedJob>& jobs);

  /// Takes the first ready job of at most `ranks` ranks; none if nothing fits.
  std::optional<std::size_t> take(std::int64_t ranks);

  /// A job that was taken has ended: those that wait only for it become ready.
  void done(std::size_t job);

  /// A job that was taken was interrupted: it gets its old place again.
  void give_back(std::size_t job);

  bool all_done() const { return left_ == 0; }

 private:
  std::map<std::int64_t, std::set<std::size_t>> ready_;  // by ranks
  std::vector<std::int64_t> ranks_;
  std::vector<std::size_t> waits_for_;            // number of jobs
  std::vector<std::vector<std::size_t>> before_;  // the jobs that wait for each
  std::size_t left_;
};

}  // namespace depthgrid
