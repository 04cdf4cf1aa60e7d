#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// A cluster on which a sweep could run: equal nodes, each an allocation of its own that ends at
/// the time limit or when it is preempted, and begins again after a delay.
struct ClusterModel {
  std::int64_t nodes = 1;
  std::int64_t devices_per_node = 1;                            // GPUs, or cores
  double time_limit = std::numeric_limits<double>::infinity();  // of an allocation, s
  double preemptions_per_hour = 0;  // of one node; the times are Poisson
  double launch_seconds = 1;        // start of a job's processes, each time
  double checkpoint_seconds = 60;   // a preempted job loses what it did since its last checkpoint
  double requeue_seconds = 122;     // from the end of an allocation to its next start

  double speed = 1;  // of a device, in units of that for which times were predicted

  std::int64_t devices() const { return nodes * devices_per_node; }
  /// "16x8".
  std::string size() const;
};

/// "1x1,16x8" (nodes x devices per node), or "scaling": 1 to 1,024 devices, eight per node; other
/// fields are those of `like`. @throws UserError (Usage)
std::vector<ClusterModel> cluster_sizes(std::string_view text, const ClusterModel& like);

}  // namespace depthgrid
