#include "worker/session/probe_service.hpp"

#include <algorithm>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace depthgrid {

ProbeService::ProbeService(JobProbes probes, Recorders recorders, ProbeTimes times)
    : probes_(std::move(probes)), recorders_(std::move(recorders)), times_(std::move(times)) {
  for (const auto& probe : probes_.probes) probe->declare(*this);
}

void ProbeService::look(std::int64_t step) {
  cells_ = recorders_(step);
  const auto due = [step](const auto& probe) { return probe->schedule().due(step); };
  if (std::ranges::any_of(probes_.probes, due)) {
    times_.begins();
    const Stopwatch clock;
    for (const auto& probe : probes_.probes) {
      if (due(probe)) probe->look(step, *this);
    }
    std::vector<std::size_t> seen;
    for (std::size_t e = 0; e < cells_.size(); ++e) {
      if (cells_[e] != nullptr) seen.push_back(e);
    }
    times_.took(clock.seconds(), seen);
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
