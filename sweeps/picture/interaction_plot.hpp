#pragma once

#include <string>
#include <vector>

#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

/// Means of a two-way layout: A lines over B places, unit of the y axis.
struct InteractionPlotData {
  std::vector<std::string> a_levels = {}, b_levels = {};  // (A), (B)
  std::vector<double> means = {};                         // (A, B), NaN: a gap
  std::vector<ChartInterval> intervals = {};              // (A, B), or empty: none
};

/// A line for each level of A over the levels of B (text.x_label names that factor), with marks,
/// intervals and a label at its end: lines that are not parallel are an interaction. Lines are
/// moved sideways a little so that their intervals do not hide each other. Without a finite mean:
/// "no data".
/// @throws Error if the sizes do not agree or an interval has low > high.
std::string interaction_plot(const InteractionPlotData& data, const ChartText& text);

}  // namespace depthgrid
