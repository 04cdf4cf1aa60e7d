#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

struct ScatterPoint {
  std::string label = {};
  double x = kNaN, y = kNaN;
  std::size_t series = 0;       // number of its colour and shape
  ChartInterval interval = {};  // of y; NaN: none
};

struct ScatterPlotData {
  std::vector<ScatterPoint> points = {};
  AxisScale x_scale = AxisScale::Linear, y_scale = AxisScale::Linear;
  bool front = false;  // draw the Pareto front
};

/// Indices of the points that no other one dominates, by ascending x: x and y are minimised, and
/// one point dominates another if it is nowhere worse and somewhere better. Equal points stay both;
/// points with a NaN are out.
/// Source: Kung, Luccio & Preparata, On finding the maxima of a set of vectors, J. ACM 22 (1975).
std::vector<std::size_t> pareto_front(std::span<const ScatterPoint> points);

/// Points with their intervals, with their labels where there is space (beside, above or below, of
/// a few points also farther away and joined by a line; always in the tooltip), and the front as a
/// step line: what lies above and to the right of it is dominated. A note counts points that are
/// not finite. Without a finite one: "no data".
/// @throws Error if a value on a log axis is ≤ 0, or an interval has low > high.
std::string scatter_plot(const ScatterPlotData& data, const ChartText& text);

}  // namespace depthgrid
