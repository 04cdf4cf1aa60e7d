#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace depthgrid {

/// The folders of this process's control group (cgroup v2) and of those above it, innermost first:
/// limits of all of them hold. Empty where there is none.
/// @param own   /proc/self/cgroup, whose line "0::/path" names the group. @param root  of all.
std::vector<std::filesystem::path> control_groups(
    const std::filesystem::path& own = "/proc/self/cgroup",
    const std::filesystem::path& root = "/sys/fs/cgroup");

/// Processes that the system has killed for their memory so far, in the first of these groups that
/// counts them, and in those below it; 0 if none does.
std::int64_t oom_kills_in(const std::vector<std::filesystem::path>& groups);

}  // namespace depthgrid
