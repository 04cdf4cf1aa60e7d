#include "sweeps/simulate/cluster_state.hpp"

namespace depthgrid {

ClusterState::ClusterState(std::int64_t nodes, std::int64_t devices_per_node)
    : per_node_(devices_per_node),
      free_(static_cast<std::size_t>(nodes), -1),
      nodes_with_(static_cast<std::size_t>(devices_per_node) + 1) {}

void ClusterState::move(std::size_t node, std::int64_t free) {
  if (free_[node] >= 0) nodes_with_[static_cast<std::size_t>(free_[node])].erase(node);
  free_[node] = free;
  if (free >= 0) nodes_with_[static_cast<std::size_t>(free)].insert(node);
}

void ClusterState::up(std::size_t node) {
  move(node, per_node_);
}

void ClusterState::down(std::size_t node) {
  move(node, -1);
}

std::int64_t ClusterState::room() const {
  const auto whole = static_cast<std::int64_t>(nodes_with_.back().size());
  if (whole > 0) return whole * per_node_;
  for (std::int64_t k = per_node_ - 1; k > 0; --k) {
    if (!nodes_with_[static_cast<std::size_t>(k)].empty()) return k;
  }
  return 0;
}

std::vector<NodeShare> ClusterState::take(std::int64_t ranks) {
  std::vector<NodeShare> out;
  const auto take_from = [&](std::size_t node, std::int64_t devices) {
    out.push_back({node, devices});
    move(node, free_[node] - devices);
  };
  if (ranks <= per_node_) {
    auto fits = nodes_with_.begin() + ranks;
    while (fits->empty()) ++fits;
    take_from(*fits->begin(), ranks);
  } else {  // nobody else gets what is left of the last node
    for (; ranks > 0; ranks -= per_node_) take_from(*nodes_with_.back().begin(), per_node_);
  }
  return out;
}

void ClusterState::give(const NodeShare& share) {
  if (free_[share.node] >= 0) move(share.node, free_[share.node] + share.devices);
}

}  // namespace depthgrid
