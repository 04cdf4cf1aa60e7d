#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace depthgrid {

/// The text without blanks and ends of lines at its ends.
std::string without_blanks(std::string_view text);

/// `scontrol show config`, its lines "MaxArraySize            = 1001".
std::map<std::string, std::string> slurm_config(const std::string& text);

/// Slurm's own default of MaxArraySize.
inline constexpr std::int64_t kUsualArraySize = 1001;

/// Tasks that an array may have: MaxArraySize (kUsualArraySize if it is not there), or
/// max_array_tasks of SchedulerParameters if that is less.
std::int64_t tasks_per_array(const std::map<std::string, std::string>& config);

}  // namespace depthgrid
