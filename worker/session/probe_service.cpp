#include "worker/session/probe_service.hpp"

#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// Of the cells that are recorded.
std::vector<std::size_t> places(const std::vector<CellRecorder*>& cells) {
  std::vector<std::size_t> out;
  for (std::size_t e = 0; e < cells.size(); ++e) {
    if (cells[e] != nullptr) out.push_back(e);
  }
  return out;
}

}  // namespace

ProbeService::ProbeService(JobProbes probes, Recorders recorders, ProbeHooks hooks)
    : probes_(std::move(probes)), recorders_(std::move(recorders)), hooks_(std::move(hooks)) {
  if (probes_.names.size() != probes_.probes.size()) throw Error("a probe has no name");
  for (const auto& probe : probes_.probes) probe->declare(*this);
}

void ProbeService::measure(std::int64_t step) {
  const std::vector<CellRecorder*> all = recorders_(step);
  std::vector<CellRecorder*> stopped(all.size(), nullptr);
  bool any_stopped = false;
  for (std::size_t e = 0; e < all.size(); ++e) {
    if (all[e] != nullptr && hooks_.stopped(e)) stopped[e] = all[e];
    any_stopped = any_stopped || stopped[e] != nullptr;
  }
  bool begun = false;
  for (std::size_t i = 0; i < probes_.probes.size(); ++i) {
    const bool due = probes_.probes[i]->schedule().due(step);
    if (!due && !any_stopped) continue;
    if (!begun) hooks_.begins();
    begun = true;
    cells_ = due ? all : stopped;
    const Stopwatch clock;
    probes_.probes[i]->measure(step, *this);
    hooks_.took(probes_.names[i], clock.seconds(), places(cells_));
  }
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
