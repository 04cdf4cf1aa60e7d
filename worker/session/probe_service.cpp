#include "worker/session/probe_service.hpp"

#include <utility>

#include "core/base/error.hpp"

namespace depthgrid {

ProbeService::ProbeService(JobProbes probes, Recorders recorders)
    : probes_(std::move(probes)), recorders_(std::move(recorders)) {
  for (const auto& probe : probes_.probes) probe->declare(*this);
}

void ProbeService::look(std::int64_t step) {
  cells_ = recorders_(step);
  for (const auto& probe : probes_.probes) {
    if (probe->schedule().due(step)) probe->look(step, *this);
  }
  for (CellRecorder* cell : cells_) {
    if (cell != nullptr) cell->put_probes(step);
  }
}

std::size_t ProbeService::declare(const SeriesSpec& series) {
  series_.push_back(series);
  return series_.size() - 1;
}

void ProbeService::write(std::size_t series, std::size_t cell, std::span<const double> values) {
  if (cell >= cells_.size()) throw Error("a probe writes of a cell that the job does not have");
  if (cells_[cell] != nullptr) cells_[cell]->put(series, values);
}

}  // namespace depthgrid
