#include "sweeps/simulate/cluster_model.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/parse_number.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kScaling = "1x1,1x2,1x4,1x8,2x8,4x8,8x8,16x8,32x8,64x8,128x8";
constexpr std::int64_t kMostDevices = 1000000;

/// A number from 1 to kMostDevices; 0 for anything else.
std::int64_t count_of(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text).value_or(0);
  return value >= 1 && value <= kMostDevices ? value : 0;
}

}  // namespace

std::string ClusterModel::size() const {
  return fmt::format("{}x{}", nodes, devices_per_node);
}

std::vector<ClusterModel> cluster_sizes(std::string_view text, const ClusterModel& like) {
  if (text == "scaling") text = kScaling;
  std::vector<ClusterModel> out;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const std::size_t cross = word.find('x');
    ClusterModel& cluster = out.emplace_back(like);
    cluster.nodes = count_of(word.substr(0, cross));
    cluster.devices_per_node = cross == word.npos ? 0 : count_of(word.substr(cross + 1));
    if (cluster.devices() < 1 || cluster.devices() > kMostDevices) {
      throw UserError(ExitCode::Usage,
                      fmt::format("--simulate: '{}' is no cluster: expected NODESxGPUS such as "
                                  "16x8, several with commas between, or scaling",
                                  word));
    }
    more = comma != text.npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return out;
}

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

std::int64_t ClusterState::free_devices() const {
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
