#include "worker/session/probe_service.hpp"

#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace depthgrid {

ProbeService::ProbeService(JobProbes probes, Recorders recorders, ProbeHooks hooks)
    : probes_(std::move(probes)), recorders_(std::move(recorders)), hooks_(std::move(hooks)) {
  for (const auto& probe : probes_.probes) probe->declare(*this);
}

void ProbeService::look(std::int64_t step) {
  const std::vector<CellRecorder*> all = recorders_(step);
  std::vector<CellRecorder*> stopped(all.size(), nullptr);
  std::vector<std::size_t> seen;
  bool any_stopped = false;
  for (std::size_t e = 0; e < all.size(); ++e) {
    if (all[e] == nullptr) continue;
    seen.push_back(e);
    if (hooks_.stopped(e)) stopped[e] = all[e];
    any_stopped = any_stopped || stopped[e] != nullptr;
  }
  std::vector<Probe*> due;
  for (const auto& probe : probes_.probes) {
    if (any_stopped || probe->schedule().due(step)) due.push_back(probe.get());
  }
  if (!due.empty()) hooks_.begins();
  const Stopwatch clock;
  for (Probe* probe : due) {
    cells_ = probe->schedule().due(step) ? all : stopped;
    probe->look(step, *this);
  }
  if (!due.empty()) hooks_.took(clock.seconds(), seen);
  for (CellRecorder* cell : all) {
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

void ProbeService::keep(std::size_t cell, const StateRecord& record) {
  if (cells_.at(cell) != nullptr) cells_[cell]->keep(record);
}

}  // namespace depthgrid
