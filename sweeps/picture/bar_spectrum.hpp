#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

/// Numbers by their index, e.g. Lyapunov exponents or singular values, unit of the y axis.
struct BarSpectrumData {
  std::vector<double> values = {};            // (n) NaN: the place says "–"
  std::vector<ChartInterval> intervals = {};  // (n), or empty: none
  std::size_t first_index = 1;                // label of the first bar
  std::size_t series = 0;                     // number of the colour
};

/// Bars from 0 to each value, over which their intervals are drawn; 0 is always in the plot, and
/// every so many bars have their index below. NaN and ±∞ are no bars: a note counts them. Without a
/// finite value: "no data".
/// @throws Error if the sizes differ or an interval has low > high.
std::string bar_spectrum(const BarSpectrumData& data, const ChartText& text);

}  // namespace depthgrid
