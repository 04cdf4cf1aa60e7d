#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/plan/team_size.hpp"

namespace depthgrid {

/// Wanted cells of one structure, to be divided into jobs.
struct JobGroup {
  std::string structure;
  std::vector<std::size_t> cells;
  double seconds = 1;      // training time of one cell, s; 1 where unknown
  std::int64_t cap = 1;    // most cells of a job
  std::string limit;       // the reason for cap, in words
  std::size_t pieces = 1;  // number of jobs
  TeamSize team = {};      // of each job
};

/// Number of jobs that a group needs when a job holds at most `per_job` cells.
std::size_t pieces_for(const JobGroup& group, std::int64_t per_job);

/// Divides groups further than their caps require where that lets the last of `teams` end sooner.
///
/// Jobs of equal length are preferred, since predictions are never exact; unequal ones must bring a
/// gain. Takes at most a few hundred evaluations of the longest-first schedule. Pure.
/// @param groups  with pieces = pieces_for(group, group.cap); pieces may rise, never fall.
void balance(std::vector<JobGroup>& groups, std::int64_t teams);

}  // namespace depthgrid
