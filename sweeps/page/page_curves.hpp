#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "storage/cells/cell_series.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/derived_metric.hpp"
#include "sweeps/picture/band_curve.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// The evaluations of one cell; of one that goes on, those that it has so far.
struct PageCurve {
  std::size_t row;   // of the listing
  std::size_t line;  // of PageCurves::lines
  CellSeries series;
};

/// The seeds of one arm together; where several stores have cells of it, those of one store. Cells
/// that have not completed take no part.
struct ArmCurve {
  std::size_t arm = 0;              // row of the comparison
  std::size_t store = 0;            // of Listing::stores
  bool of_store = false;            // the arm is in several
  BandCurve band = {};              // mean, and the range of the seeds
  std::vector<std::size_t> n = {};  // seeds at each x
  std::size_t seeds = 0;            // most of them
};

/// Learning curves of a sweep.
struct PageCurves {
  std::string metric;           // "eval_loss.valid"
  std::vector<ArmCurve> lines;  // in the order of the arms
  std::vector<PageCurve> cells;
  std::size_t cells_with_curve = 0;  // more than `cells` if these are a sample
  CurvesByRow completed;             // of all completed cells
};

/// The periodic evaluation that goes with a metric.
std::string curve_metric_of(const std::string& metric);

/// Means and ranges of curves at each x that some of them has; numbers that are not finite count
/// nowhere.
ArmCurve arm_curve(const std::vector<const CellSeries*>& seeds);

/// Reads the curves of these arms. Of cells of an arm, a store and a seed the first counts.
/// @param listing   of which cells are read. @param names  of its stores, as they are shown.
/// @param progress  called with (cells read, cells), often; may be empty.
PageCurves page_curves(const Listing& listing, const std::vector<std::string>& names,
                       const Comparison& by_arm,
                       const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace depthgrid
