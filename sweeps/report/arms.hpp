#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/report/listing.hpp"
#include "sweeps/report/statistics.hpp"

namespace depthgrid {

/// One metric of an arm over its seeds.
struct ArmMetric {
  SampleSummary sample;
  std::optional<MeanDifference> difference;  // this arm − baseline; absent for the baseline itself
};

/// The cells of a sweep that differ only in their seeds.
struct ArmResults {
  std::string arm, tag;
  bool baseline = false;
  std::vector<std::size_t> cells;  // rows of the listing
  std::vector<std::int64_t> seeds;
  std::array<std::size_t, 7> counts{};  // cells by CellStatus
  /// Of completed cells only: a diverged or unfinished cell has numbers of an earlier step. Every
  /// arm has the same names, those that any completed cell recorded and the sweep's own metric.
  std::map<std::string, ArmMetric> metrics;

  std::size_t count(CellStatus status) const { return counts[static_cast<std::size_t>(status)]; }
  /// Cells that the means lack.
  std::size_t missing() const { return cells.size() - count(CellStatus::Completed); }
};

/// The arms of a sweep in the order of the file, compared with one of them.
struct ArmComparison {
  std::string baseline;  // an arm; empty if the sweep has none
  bool baseline_selected = false;
  std::vector<ArmResults> arms;
};

/// Groups cells by arm and compares each arm with the baseline, metric by metric.
///
/// Two arms with the same seeds are paired by seed: they share initial weights and batches where
/// their structures do (common random numbers), so much of the seeds' effect cancels. A pair needs
/// both cells completed. Arms with other seeds are compared as independent samples.
/// @param cells     rows of the listing that take part.
/// @param baseline  an arm, a tag, or the beginning of exactly one of them; empty: the sweep's own.
/// @throws UserError (Usage) if no arm or more than one is meant.
ArmComparison compare_arms(const Listing& listing, const std::vector<std::size_t>& cells,
                           std::string_view baseline = {});

}  // namespace depthgrid
