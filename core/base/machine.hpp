#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depthgrid {

/// What this process may use of the machine that it is on.
struct Machine {
  std::string host;
  std::int64_t cores = 1;         // of its affinity, and of its control group
  double memory_bytes = 0;        // of the machine, or less by its control group
  std::vector<std::string> gpus;  // as CUDA_VISIBLE_DEVICES names them: "0", "GPU-…"
};

/// Nothing is started and no library is loaded: GPUs are those of CUDA_VISIBLE_DEVICES, or where it
/// is unset those that the driver lists in /proc.
Machine this_machine();

/// "AMD EPYC 9B14", from /proc/cpuinfo; "cpu" if it gives no name.
std::string cpu_model();

/// Of this host; empty if the system does not say.
std::string host_name();

/// The name by which Slurm knows this node (SLURMD_NODENAME); outside Slurm the host's.
std::string node_name();

/// The name of the user as whom this process acts; their number if the system knows no name.
std::string user_name();

/// Numbers of the cores that this process may use, by its affinity, ascending.
std::vector<int> allowed_cores();

/// The cards of a value of CUDA_VISIBLE_DEVICES: "0,2" -> 0 and 2; up to the first that is no card.
std::vector<std::string> cards_of(const std::string& visible);

}  // namespace depthgrid
