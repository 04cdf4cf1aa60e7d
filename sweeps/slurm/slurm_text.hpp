#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sweeps/slurm/scheduler.hpp"

namespace depthgrid {

/// `scontrol show config`, its lines "MaxArraySize            = 1001".
std::map<std::string, std::string> slurm_config(const std::string& text);

/// Slurm's own default of MaxArraySize.
inline constexpr std::int64_t kUsualArraySize = 1001;

/// Tasks that an array may have: MaxArraySize (kUsualArraySize if it is not there), or
/// max_array_tasks of SchedulerParameters if that is less.
std::int64_t tasks_per_array(const std::map<std::string, std::string>& config);

/// The id in what `sbatch --parsable` prints, "123" or "123;cluster" in a line of its own, behind
/// whatever a site's plugin may say; the last one, or "".
std::string submitted_job(const std::string& text);

/// The lines of `squeue -h -r -o %i|%T|%k|%r`; others are left out.
std::vector<QueuedTask> queued_tasks(const std::string& text);

/// A line of `scontrol -o show job`.
struct ShownTask {
  bool waits = false;
  std::string left_out;  // its ExcNodeList; "" = none
};
std::vector<ShownTask> shown_tasks(const std::string& text);

/// The parts of "n1,n[3-5,7],m2": commas in brackets part nothing.
std::vector<std::string> names_in(const std::string& list);

/// Sum of elapsed seconds times GPUs over the lines of sacct with ElapsedRaw and AllocTRES, such as
/// "3600|billing=8,gres/gpu=4,node=1".
double gpu_seconds_of(const std::string& text);

}  // namespace depthgrid
