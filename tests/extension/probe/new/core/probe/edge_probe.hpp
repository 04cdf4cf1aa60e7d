#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/probe/probe.hpp"

namespace depthgrid {

/// Numbers per pair of edges of the depth, and per class of tokens named by a leaf.
class EdgeProbe final : public Probe {
 public:
  /// The observed number of one cell for the edges i and j.
  using EdgeOf = std::function<double(std::size_t cell, std::int64_t i, std::int64_t j)>;

  /// @param edges    L + 1.
  /// @param classes  labels, from the leaf `probes.edges.classes`.
  EdgeProbe(ProbeSchedule schedule, std::int64_t cells, std::int64_t edges,
            std::vector<std::string> classes, EdgeOf edge);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return schedule_; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  ProbeSchedule schedule_;
  std::int64_t cells_, edges_;
  std::vector<std::string> classes_;
  EdgeOf edge_;
  std::size_t matrix_ = 0, mean_ = 0;
};

}  // namespace depthgrid
