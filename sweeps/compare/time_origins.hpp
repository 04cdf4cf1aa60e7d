#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/compare/seed_pairs.hpp"
#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Where measured times come from, by row of the listing: the fused jobs that measured them, and
/// what these ran on, "AMD EPYC … ×1, 4 cells". Cells that share a job share one measurement; times
/// of other devices or numbers of fused cells are no difference of what was trained. Of rows that
/// are not here it is not known.
struct TimeOrigins {
  std::map<std::size_t, std::vector<std::string>> jobs = {};
  std::map<std::size_t, std::string> machines = {};
};

/// Whether a metric is a time that was measured, or a rate by one: seconds, or per second, in the
/// table of variables. What the planner predicts is not measured.
bool is_measured_time(std::string_view metric);

/// Of completed cells, from the attempts that `sweep.h5` or their results record. Tables, and files
/// that are not there or cannot be read, say nothing.
TimeOrigins read_time_origins(const Listing& listing, const std::vector<std::size_t>& rows);

/// Why times of two cells cannot be compared: other machines.
BasisMismatch machine_mismatch(const TimeOrigins& origins, std::size_t mine, std::size_t theirs);

/// Pairs that share no job with each other, directly or by others. What the two cells of one pair
/// share cancels in their difference.
std::size_t independent_pairs(const TimeOrigins& origins, const SeedPairs& pairs);

/// Whether two of these cells share a job.
bool share_measurements(const TimeOrigins& origins, const std::vector<std::size_t>& rows);

}  // namespace depthgrid
