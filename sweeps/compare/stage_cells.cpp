#include "sweeps/compare/stage_cells.hpp"

#include <utility>

#include "core/base/nan.hpp"

namespace depthgrid {

StageCells::StageCells(const Listing& listing, const std::string& store, std::string metric)
    : listing_(listing), metric_(std::move(metric)) {
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const CellSummary& cell = listing.cells[row];
    if (!cell.in_plan || listing.store_of(row) != store) continue;
    rows_[cell.arm].emplace(cell.seed, row);
  }
}

std::optional<std::size_t> StageCells::row(const std::string& arm, std::int64_t seed) const {
  const auto of_arm = rows_.find(arm);
  if (of_arm == rows_.end()) return std::nullopt;
  const auto at = of_arm->second.find(seed);
  return at == of_arm->second.end() ? std::nullopt : std::optional(at->second);
}

double StageCells::figure(const std::string& arm, std::int64_t seed) const {
  const auto at = row(arm, seed);
  if (!at || listing_.cells[*at].status != CellStatus::Completed) return kNaN;
  const auto& metrics = listing_.cells[*at].metrics;
  const auto found = metrics.find(metric_);
  return found == metrics.end() ? kNaN : found->second;
}

std::vector<double> StageCells::figures(const std::string& arm,
                                        const std::vector<std::int64_t>& seeds) const {
  std::vector<double> out;
  for (const std::int64_t seed : seeds) out.push_back(figure(arm, seed));
  return out;
}

std::vector<double> StageCells::differences(const std::string& arm, const std::string& baseline,
                                            const std::vector<std::int64_t>& seeds) const {
  std::vector<double> out;
  for (const std::int64_t seed : seeds) out.push_back(figure(arm, seed) - figure(baseline, seed));
  return out;
}

}  // namespace depthgrid
