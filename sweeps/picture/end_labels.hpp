#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/svg.hpp"

namespace depthgrid {

/// Places for labels that want to stand at `wanted`, at least `distance` from each other.
///
/// Their order stays (of equal places, that of the argument) and the sum of the squared shifts is
/// the least possible. Within low … high; if there is no space for all, they start at `low` and go
/// on beyond `high`.
/// @param wanted  finite pixels, in any order. @return  a place for each, in that order.
/// Source: subtracting i · distance from the i-th leaves isotonic regression, solved by pooling
/// adjacent violators (Barlow et al., Statistical Inference under Order Restrictions, 1972);
/// limits: its solution, clamped, solves the limited problem.
std::vector<double> spread_apart(std::span<const double> wanted, double distance, double low,
                                 double high);

/// Name of a line at the right of a plot, joined to where the line ends.
struct EndLabel {
  std::string text = {};
  double x = 0, y = 0;     // end of the line in pixels
  std::size_t series = 0;  // its colour
};

/// Least distance of two labels, middle to middle: a line of text and some air.
inline constexpr double kEndLabelHeight = 19;

/// Width of the column of labels at the right, with what joins them; the margin of a plot without
/// labels if there are none.
double end_label_space(std::span<const EndLabel> labels);

/// Height that an area needs so that all labels stand beside it.
double end_label_height(std::size_t labels) noexcept;

/// One "leader" and one "label" for each that has a text, moved apart (spread_apart()) within the
/// height of the area. Ends have to lie left of the area's right edge.
void draw_end_labels(SvgWriter& svg, const PlotArea& area, std::span<const EndLabel> labels);

}  // namespace depthgrid
