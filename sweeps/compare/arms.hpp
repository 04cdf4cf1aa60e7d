#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/compare/design.hpp"
#include "sweeps/compare/statistics.hpp"
#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// One metric of an arm over its seeds.
struct ArmMetric {
  /// What is shown: of the seeds whose difference is shown beside it, else of all.
  SampleSummary sample;
  SampleSummary all;                         // of every completed cell
  std::optional<MeanDifference> difference;  // this arm − baseline; absent for the baseline itself
  SampleSummary baseline;           // with a difference: the baseline's cells that it is of
  std::vector<std::int64_t> pairs;  // seeds of a paired difference
  /// Independent measurements among the pairs: fewer where seeds of one fused job share a measured
  /// time. Then the difference has no interval. Of other metrics as many as there are pairs.
  std::size_t measurements = 0;
  /// Seeds that completed in one of the two arms only, in this one or in the baseline: no pair.
  std::vector<std::int64_t> left_out, baseline_left_out;
  BasisMismatch refused;  // why there is no difference, if figures are not of one evaluation
  BasisMismatch mixed;    // why there is no mean: the arm's own figures are not of one evaluation
};

/// The cells of a sweep that differ only in their seeds.
struct ArmResults : ComparedGroup {
  std::vector<std::int64_t> seeds;
  std::size_t repeated = 0;  // cells with the seed of another one of the arm, which counts alone
  /// Of completed cells only: a diverged or unfinished cell has numbers of an earlier step. Every
  /// arm has the same names, those that any completed cell recorded and the sweep's own metric.
  std::map<std::string, ArmMetric> metrics;
};

/// The arms of a sweep in the order of the file, compared with one of them.
struct ArmComparison {
  std::string baseline;  // an arm; empty if the sweep has none
  bool baseline_selected = false;
  std::vector<ArmResults> arms;
};

/// Groups cells by arm and compares each arm with the baseline, metric by metric.
///
/// Arms are paired by the seeds that completed in both: such cells share initial weights and
/// batches where their structures do (common random numbers), so much of the seeds' effect cancels.
/// Other seeds are left out of the difference and of the means beside it. Arms without a common
/// seed are compared as independent samples. Where figures are not of one evaluation
/// (evaluation_basis.hpp), or cells not of one training (training_basis.hpp) in what no arm of the
/// sweep file sets, or measured times of one machine, there is no difference.
/// @param cells     rows of the listing that take part.
/// @param baseline  an arm, a tag, or the beginning of exactly one of them; empty: the sweep's own.
/// @param allowed   words of `--allow`.
/// @param times     see shows_times(); without them the attempts that measured times are not read,
///                  and these metrics have means alone.
/// @throws UserError (Usage) if no arm or more than one is meant.
ArmComparison compare_arms(const Listing& listing, const std::vector<std::size_t>& cells,
                           std::string_view baseline = {},
                           const std::vector<std::string>& allowed = {}, bool times = true);

/// Whether measured times are shown by an output of these columns (names, ends of names, patterns;
/// none: all) in this order ("-name": largest first). True where only names of cells could say.
bool shows_times(const Listing& listing, std::vector<std::string> columns, std::string_view sort);

}  // namespace depthgrid
