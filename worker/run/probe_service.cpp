#include "worker/run/probe_service.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace depthgrid {

ProbeService::ProbeService(std::vector<std::unique_ptr<Probe>> probes)
    : probes_(std::move(probes)) {
  for (const auto& probe : probes_) probe->declare(*this);
}

bool ProbeService::due(std::int64_t step) const {
  return std::ranges::any_of(probes_,
                             [step](const auto& probe) { return probe->schedule().due(step); });
}

void ProbeService::look(std::int64_t step, std::span<CellRecorder> recorders) {
  recorders_ = recorders;
  for (const auto& probe : probes_) {
    if (probe->schedule().due(step)) probe->look(step, *this);
  }
  recorders_ = {};
}

std::size_t ProbeService::declare(const SeriesSpec& series) {
  series_.push_back(series);
  return series_.size() - 1;
}

void ProbeService::write(std::size_t series, std::size_t cell, std::span<const double> values) {
  if (cell >= recorders_.size()) throw Error("a probe writes of a cell that the job does not have");
  recorders_[cell].put(series, values);
}

}  // namespace depthgrid
