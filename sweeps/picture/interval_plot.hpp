#pragma once

#include <string>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/chart_text.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {

/// One row of a forest plot: an effect with its interval, in the unit of the x axis.
struct IntervalRow {
  std::string label = {};
  double mean = kNaN;                        // NaN: the row says "–"
  ChartInterval interval = {};               // of this row alone
  ChartInterval simultaneous = {};           // wider: holds for all rows at once; NaN: none
  std::string verdict = {};                  // word at the right end, may be empty
  MarkerShape marker = MarkerShape::Circle;  // of the verdict; its colour follows
};

struct IntervalPlotData {
  std::vector<IntervalRow> rows = {};  // from top to bottom
  double margin = kNaN;  // half width of the band around 0 that does not matter; NaN: none
};

/// Forest plot: for each row a thin line for the simultaneous interval, a thick one for its own and
/// a mark at the mean, whose shape (and colour) is that of the verdict; the line at 0 is always in
/// the plot, and numbers stand in the tooltip of a row. Without a finite mean: "no data".
/// @throws Error if an interval has low > high or the margin is not above 0.
/// Source: Lewis & Clarke, Forest plots: trying to see the wood and the trees, BMJ 322 (2001).
std::string interval_plot(const IntervalPlotData& data, const ChartText& text);

}  // namespace depthgrid
