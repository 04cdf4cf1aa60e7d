#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

/// One arm: what its seeds gave, in the unit of the x axis.
struct MeanRow {
  std::string label = {};
  std::vector<double> values = {};  // one a seed
  double mean = kNaN;               // NaN: none is drawn
  ChartInterval interval = {};      // of the mean
  std::size_t series = 0;  // number of its colour and shape, the same in all charts of a page
};

struct MeanPlotData {
  std::vector<MeanRow> rows = {};  // from top to bottom
  AxisScale scale = AxisScale::Linear;
};

/// Rows with a dot for every seed, and below them the mean with its interval. Dots that would hide
/// each other are stacked; a note counts the seeds without a finite value. Without any: "no data".
/// @throws Error if an interval has low > high, or a value on a log axis is ≤ 0.
/// Source: Weissgerber et al., Beyond bar and line graphs, PLOS Biology 13 (2015): few samples are
/// shown themselves.
std::string mean_plot(const MeanPlotData& data, const ChartText& text);

}  // namespace depthgrid
