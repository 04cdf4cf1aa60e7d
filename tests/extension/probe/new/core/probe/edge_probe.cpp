#include "core/probe/edge_probe.hpp"

#include <utility>

namespace depthgrid {

EdgeProbe::EdgeProbe(ProbeSchedule schedule, std::int64_t cells, std::int64_t edges,
                     std::vector<std::string> classes, EdgeOf edge)
    : schedule_(std::move(schedule)),
      cells_(cells),
      edges_(edges),
      classes_(std::move(classes)),
      edge_(std::move(edge)) {}

void EdgeProbe::declare(RecordSink& out) {
  matrix_ = out.declare(
      {.name = "edge_matrix",
       .axes = {{.name = "edge", .length = edges_}, {.name = "edge_b", .length = edges_}}});
  const auto classes = static_cast<std::int64_t>(classes_.size());
  mean_ = out.declare({.name = "edge_mean",
                       .axes = {{.name = "edge", .length = edges_},
                                {.name = "edge_class", .length = classes, .labels = classes_}}});
}

void EdgeProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  for (std::size_t e = 0; e < static_cast<std::size_t>(cells_); ++e) {
    std::vector<double> matrix, mean;
    for (std::int64_t i = 0; i < edges_; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < edges_; ++j) sum += matrix.emplace_back(edge_(e, i, j));
      mean.insert(mean.end(), classes_.size(), sum / static_cast<double>(edges_));
    }
    out.write(matrix_, e, matrix);
    out.write(mean_, e, mean);
  }
}

}  // namespace depthgrid
