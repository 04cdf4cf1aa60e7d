#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweeps/picture/band_curve.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

struct MultiplePanel {
  std::string title = {};
  std::vector<BandCurve> curves = {};
};

struct SmallMultiplesData {
  std::vector<MultiplePanel> panels = {};  // rows one after the other
  std::size_t columns = 3;                 // 1 to 4
  AxisScale x_scale = AxisScale::Linear, y_scale = AxisScale::Linear;
  std::size_t most_points = 150;  // ≥ 4, of each line
};

/// Panels of curves with bands whose axes all have the same range, so that heights compare.
///
/// Labels of ticks stand at the left and below the lowest panel of each column. A key above names
/// the curves once: equal labels in several panels are one series and should have one number. A
/// panel without a finite point says "no data", and so does the chart if all are.
/// @throws Error as band_plot() does, or for a number of columns outside 1 … 4.
/// Source: Tufte, Envisioning Information (1990), ch. 4.
std::string small_multiples(const SmallMultiplesData& data, const ChartText& text);

}  // namespace depthgrid
