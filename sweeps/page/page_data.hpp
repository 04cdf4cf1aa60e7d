#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/cells/cell_series.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/page/probe_sights.hpp"
#include "sweeps/picture/band_curve.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// What a page is asked of a sweep.
struct PageQuery {
  ComparisonQuery comparison = {};  // `by`: the factors; empty: each leaf that varies
  std::string filter = {};          // which cells take part, as in `results`; empty: all
  bool all_plans = false;           // the listing has cells of other plans, too: said by commands
};

/// What a page may say beyond numbers: words of `--include`.
struct PageInclusions {
  bool logs = false;    // texts of failures, as they were logged
  bool tokens = false;  // texts of tokens of a corpus
};

/// The evaluations of one cell.
struct PageCurve {
  std::size_t row;  // of the listing
  CellSeries series;
};

/// The seeds of one arm together.
struct ArmCurve {
  BandCurve band;  // mean, and the range of the seeds
  std::size_t seeds = 0;
};

/// Everything that the sections of a page are made of.
struct PageData {
  PageQuery query;
  std::string title;  // of the page: the sweep
  Listing listing;
  std::vector<std::size_t> rows;
  Comparison by_arm;                  // arms beside the baseline
  std::vector<Comparison> by_factor;  // each leaf that varies, at most a few
  std::optional<NoContrast> problem;  // of by_arm
  std::string curve_metric;           // "eval_loss.valid"
  std::vector<PageCurve> curves;      // of cells that have ended, in the order of the listing
  std::vector<ArmCurve> arm_curves;   // in the order of by_arm
  ProbeSights probes;
  std::size_t curve_cells = 0;  // cells that have a curve; more than `curves` if sampled
  PageInclusions include;
};

/// Reads what a page needs. @param progress  called with (cells read, cells), often.
/// @throws UserError as compare_cells(); StorageError.
PageData page_data(Listing listing, const PageQuery& query, const PageInclusions& include,
                   const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace depthgrid
