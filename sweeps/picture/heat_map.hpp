#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

/// Sequential: from the lowest to the highest value. Diverging: equally far to both sides of a
/// centre.
enum class HeatScale : std::uint8_t { Sequential, Diverging };

/// A matrix of R rows and C columns.
struct HeatMapData {
  std::vector<std::string> rows = {},
                           columns = {};  // (R) from top to bottom, (C) from left to right
  std::vector<double> values = {};        // (R, C), rows one after the other
  HeatScale scale = HeatScale::Sequential;
  double centre = 0;             // of the diverging scale, unit of the values
  std::string value_label = {};  // what the colours are, with its unit
  /// What the colours reach at least, so that maps beside each other have the same; NaN: nothing.
  ChartInterval reach = {};
};

/// Which of ten equal parts of low … high holds the value, 0 to 9; 4 if low = high. All are finite.
int heat_level(double value, double low, double high) noexcept;

/// Cells with the classes h0 to h9, for which the stylesheet has colours, below a group of the
/// class "sequential" or "diverging", and a key with the limits.
///
/// If all fit, the numbers stand in the cells, with equally many decimals; in any case they are in
/// the tooltips (some 130 bytes a cell). NaN is hatched, "–"; so is ±∞, "∞": neither counts in the
/// scale. Labels that would touch are left out, but not their tooltips. Without a finite value: "no
/// data".
/// @throws Error if the sizes do not agree.
std::string heat_map(const HeatMapData& data, const ChartText& text);

}  // namespace depthgrid
