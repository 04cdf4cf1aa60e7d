#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "sweeps/picture/axis.hpp"
#include "sweeps/picture/chart_text.hpp"
#include "sweeps/picture/svg.hpp"

namespace depthgrid {

// What all charts have: a rectangle with axes and grid around the marks, labels that keep to their
// space, intervals, and what stands there if there is nothing to draw.

/// The rectangle of the marks in units of the viewBox.
struct PlotArea {
  double left = 0, top = 0, right = 0, bottom = 0;
};

enum class TextAnchor : std::uint8_t { Start, Middle, End };

/// Kind of a text: class and size.
enum class TextKind : std::uint8_t { Label, Tick, Small };

struct LabelForm {
  TextKind kind = TextKind::Label;
  TextAnchor anchor = TextAnchor::Start;
  bool muted = false;
  double space = std::numeric_limits<double>::infinity();  // a longer text is cut
};

double font_of(TextKind kind) noexcept;

/// A text whose middle is at y; if it is cut, hovering shows it whole.
void draw_label(SvgWriter& svg, double x, double y, std::string_view text,
                const LabelForm& form = {});

/// Space below an area that the x axis takes with its ticks and, unless it is empty, its label;
/// space above it that the label of the y axis takes.
double x_axis_space(std::string_view label) noexcept;
double y_label_space(std::string_view label) noexcept;
/// Width of the labels of a y axis, with the gap beside them.
double y_axis_space(const ChartAxis& y);

/// Grid, axis, ticks and label below the area. Labels of ticks that would touch are left out.
void draw_x_axis(SvgWriter& svg, const PlotArea& area, const ChartAxis& x, std::string_view label);

/// The same at the left; the label stands above the axis, where nobody has to turn their head.
void draw_y_axis(SvgWriter& svg, const PlotArea& area, const ChartAxis& y, std::string_view label);

/// Grid and axis alone.
void draw_x_grid(SvgWriter& svg, const PlotArea& area, const ChartAxis& x);
void draw_y_grid(SvgWriter& svg, const PlotArea& area, const ChartAxis& y);

/// Line at 0 across the area if a linear axis shows it.
void draw_zero_x(SvgWriter& svg, const PlotArea& area, const ChartAxis& x);
void draw_zero_y(SvgWriter& svg, const PlotArea& area, const ChartAxis& y);

enum class IntervalDirection : std::uint8_t { Horizontal, Vertical };

/// A line with caps of half-length `cap`; without the cap where the limit is outside the axis.
struct IntervalForm {
  IntervalDirection direction = IntervalDirection::Horizontal;
  double cap = 4;
  std::string_view classes = "interval";
};

/// One element, or none if a limit is NaN.
/// @param across  place on the other axis. @throws Error, naming `name`, if low > high.
void draw_interval(SvgWriter& svg, const ChartAxis& axis, const ChartInterval& interval,
                   double across, const IntervalForm& form, std::string_view name);

/// "[1, 2]"; and "1.5 [1, 2]", or "1.5" without an interval: for tooltips.
std::string chart_interval_text(const ChartInterval& interval);
std::string chart_value_text(double value, const ChartInterval& interval);

/// "Not drawn: 2 values that are not finite."; empty for none.
std::string omission_note(std::size_t count);

/// A chart that says "no data".
std::string chart_without_data(const ChartText& text);

}  // namespace depthgrid
