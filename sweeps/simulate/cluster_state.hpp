#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace depthgrid {

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
  std::int64_t room() const;
  /// Devices for a job of at most room() ranks: of the fullest node that has them, or whole nodes.
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
