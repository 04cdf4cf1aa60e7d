#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
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

/// Devices of one node that a job has.
struct NodeShare {
  std::size_t node = 0;
  std::int64_t devices = 0;
};

/// Free devices of the nodes that are up.
class ClusterState {
 public:
  /// All nodes are down at first.
  ClusterState(std::int64_t nodes, std::int64_t devices_per_node);

  void up(std::size_t node);    // with all its devices free
  void down(std::size_t node);  // whatever it has

  /// The most ranks that a job may have to begin now.
  std::int64_t free_devices() const;
  /// Devices for a job of at most free_devices() ranks: of the fullest node that has them, or whole
  /// nodes.
  std::vector<NodeShare> take(std::int64_t ranks);
  /// Gives devices back; those of a node that is down are ignored.
  void give(const NodeShare& share);

 private:
  void move(std::size_t node, std::int64_t free);

  std::int64_t per_node_;
  std::vector<std::int64_t> free_;                 // -1: down
  std::vector<std::set<std::size_t>> nodes_with_;  // by the number of free devices
};

}  // namespace depthgrid
