#pragma once

#include <string>
#include <string_view>

namespace depthgrid {

// Texts of a chart, and how much space they take. A static picture cannot ask a font: widths are
// estimates for a sans-serif face, on the wide side, in units of the viewBox (720 of them are the
// width of every chart).

/// What a chart says about itself. Title and description are read aloud and shown on hovering; the
/// page prints them where it likes, the chart does not draw them.
struct ChartText {
  std::string id = {};  // unique in the page: a letter, then letters, digits, '-' and '_'
  std::string title = {}, description = {};
  std::string x_label = {}, y_label = {};  // with their units; empty: none
};

inline constexpr double kChartWidth = 720;  // of every viewBox
/// Sizes of the three kinds of text; the stylesheet has the same. At 540 pixels, the least width
/// it allows a chart, they are 11, 10.5 and 10 pixels high.
inline constexpr double kLabelFont = 15, kTickFont = 14, kSmallFont = 13;

/// Control characters, marks of direction and bytes that are not UTF-8 become visible escapes such
/// as \u202e; line ends and tabs become blanks.
std::string chart_line(std::string_view text);

/// Estimated width of one line.
double chart_text_width(std::string_view text, double font);

/// The line if it fits in `space`, else its beginning and its end around "…"; at least "…".
std::string cut_to_width(std::string_view text, double space, double font);

/// Up to four significant digits: 0.0123, 1.5e-7; "–" for NaN, "∞" and "-∞".
std::string chart_number(double number);

}  // namespace depthgrid
