#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "sweeps/doctor/finding.hpp"

namespace depthgrid {

/// Space in bytes and in files; `files` is 0 where a file system does not count them.
Finding space_finding(double free_bytes, std::uint64_t free_files, bool counts_files);

/// @param skew  time of a new file less this machine's time, s.
Finding clock_finding(double skew);

/// What a store needs of its folder: links, renames, fsync, locks, space, and the clock of its file
/// server. A folder that is not there yet is judged by the nearest one above. Leaves nothing
/// behind.
std::vector<Finding> store_findings(const std::filesystem::path& folder);

}  // namespace depthgrid
