#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweeps/picture/band_curve.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

/// Curves with bands over a common x, e.g. learning curves of arms.
struct BandPlotData {
  std::vector<BandCurve> curves = {};
  AxisScale x_scale = AxisScale::Linear, y_scale = AxisScale::Linear;
  std::size_t most_points = 400;  // ≥ 4, of each line; fewer where there are many curves
};

/// Each curve has a line (its own colour and dashes), a band, and its label where it ends, moved
/// apart from other labels if need be and then joined to its line. Without a finite point: "no
/// data".
/// @throws Error if a curve's vectors do not agree or a value on a log axis is ≤ 0: an x of 0 (the
/// step before training) has no place there.
std::string band_plot(const BandPlotData& data, const ChartText& text);

}  // namespace depthgrid
