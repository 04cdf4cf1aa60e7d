#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/svg.hpp"

namespace depthgrid {

/// Which points of a curve to draw so that its line looks as if all were: of every column of
/// pixels the first, the last, the lowest and the highest. No extreme of the curve is lost.
///
/// The columns are equal parts of the drawn width, most / 4 of them.
/// @param x     (n) pixels, not decreasing. @param y  (n) finite, any unit.
/// @param most  ≥ 4: points to draw. @return  indices, ascending, at most `most`; all if n ≤ most.
/// @throws Error if the sizes differ, x decreases or `most` is below 4.
/// Source: Jugel et al., M4: a visualization-oriented time series data aggregation, PVLDB 7 (2014).
std::vector<std::size_t> m4_points(std::span<const double> x, std::span<const double> y,
                                   std::size_t most);

/// One arm over x, e.g. the mean of its seeds and the band of its interval.
struct BandCurve {
  std::string label = {};
  std::vector<double> x = {};               // (n) not decreasing
  std::vector<double> mean = {};            // (n) NaN: the line has a gap
  std::vector<double> low = {}, high = {};  // (n) limits of the band, or both empty: none
  std::size_t series = 0;  // number of its colour and dashes, the same in all charts
};

/// @throws Error, naming the curve, if sizes differ, x decreases or low > high somewhere.
void require_band_curve(const BandCurve& curve);

/// All x, and all y (means and limits) of the curves: what their axes have to show.
std::vector<double> x_of_curves(std::span<const BandCurve> curves);
std::vector<double> y_of_curves(std::span<const BandCurve> curves);

/// Points whose x and mean can be drawn.
std::vector<std::size_t> drawn_points(const BandCurve& curve, AxisScale x, AxisScale y);

/// The band: one path of the class "band", with a part for each run without a gap; nothing without
/// limits. Its upper and its lower edge have at most `most_points` points each, extremes kept.
void draw_band(SvgWriter& svg, const BandCurve& curve, const ChartAxis& x, const ChartAxis& y,
               std::size_t most_points);

/// The line: one path of the class "curve", of at most `most_points` points with all extremes; a
/// point alone between two gaps becomes a dot of the class "point".
void draw_curve(SvgWriter& svg, const BandCurve& curve, const ChartAxis& x, const ChartAxis& y,
                std::size_t most_points);

}  // namespace depthgrid
