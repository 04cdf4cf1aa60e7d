#pragma once

#include <string>
#include <string_view>

namespace depthgrid {

/// The rules for all charts, for the <style> of the page that holds them.
///
/// Light or dark by the reader's system; :root[data-theme=light] and :root[data-theme=dark] decide
/// otherwise; on paper always light. All names begin with .chart or --chart, so that the page's own
/// rules and these leave each other alone. Nothing is loaded.
///
/// Classes: s0 … s7 colour of a series · axis, grid, zero · band, margin · point, mean, interval,
/// simultaneous, bar, curve, sample (of a line in a key), leader, front · h0 … h9 below sequential
/// or diverging, cell, dense, key, missing, hatch · label, tick, small, muted: texts · hit: where
/// hovering finds a row. An element of the class "chart-frame" around a chart scrolls it on a
/// screen narrower than 540 pixels, below which texts would be too small.
std::string chart_stylesheet();

/// The rules for a chart that is a file of its own: the colours for light, as numbers, since
/// programs that turn SVG into PDF do not read variables.
std::string paper_stylesheet();

/// A chart as a file of its own, with its namespace, its size, a background and paper_stylesheet().
/// @param chart  as SvgWriter::finish() returned it. @throws Error if it is none.
std::string svg_file(std::string_view chart);

}  // namespace depthgrid
