#include "sweeps/picture/heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/picture/plot_frame.hpp"

namespace depthgrid {
namespace {

constexpr double kHeatGap = 8, kMostHeatLabel = 180, kHeatKeyHeight = 46;
constexpr double kHeatHatch = 6;          // between two lines of a hatching
constexpr double kKeyCell = 24;           // width of a colour in the key
constexpr double kMostHeatHeight = 640;   // of all rows that are lower than a line of text
constexpr double kLeastEdged = 12;        // smaller cells have no line between them
constexpr double kLeastColumnLabel = 60;  // space for a label of a column, unless all are shorter

struct HeatLimits {
  double low = 0, high = 0;
  bool any = false;
};

HeatLimits heat_limits(const HeatMapData& data) {
  HeatLimits out = {std::numeric_limits<double>::infinity(),
                    -std::numeric_limits<double>::infinity(), false};
  for (const double value : data.values) {
    if (!can_be_drawn(value, AxisScale::Linear)) continue;
    out = {std::min(out.low, value), std::max(out.high, value), true};
  }
  if (!out.any) return out;
  out.low = std::fmin(out.low, data.reach.low);  // passes over NaN
  out.high = std::fmax(out.high, data.reach.high);
  if (data.scale == HeatScale::Sequential) return out;
  const double reach = std::max(data.centre - out.low, out.high - data.centre);
  return {data.centre - reach, data.centre + reach, true};
}

/// The decimals that distinguish a hundredth of the range, if that needs no exponent.
std::vector<std::string> heat_texts(const HeatMapData& data, const HeatLimits& limits) {
  const double size = std::max(std::abs(limits.low), std::abs(limits.high));
  const double span = limits.high > limits.low ? limits.high - limits.low : size;
  const int decimals =
      span > 0 ? std::clamp(static_cast<int>(std::ceil(2 - std::log10(span))), 0, 9) : 0;
  const bool plain = size == 0 || (size >= 1e-3 && size < 1e6);
  std::vector<std::string> out;
  for (const double value : data.values) {
    const bool fixed = plain && can_be_drawn(value, AxisScale::Linear);
    // A value that rounds to zero has no sign: + 0.0 makes 0 of -0.
    const double unit = std::pow(10.0, decimals);
    out.push_back(fixed ? fmt::format("{:.{}f}", std::round(value * unit) / unit + 0.0, decimals)
                        : chart_number(value));
  }
  return out;
}

/// The map's geometry: all cells have the same size.
struct HeatGrid {
  PlotArea area;
  double width = 0, height = 0;               // of a cell
  std::size_t row_step = 1, column_step = 1;  // every so many have a label
  bool numbers = false;
};

HeatGrid heat_grid(const HeatMapData& data, const ChartText& text,
                   const std::vector<std::string>& texts) {
  const auto rows = static_cast<double>(data.rows.size());
  const auto columns = static_cast<double>(data.columns.size());
  double labels = 0, numbers = 0, column_labels = 0;
  for (const std::string& label : data.rows)
    labels = std::max(labels, chart_text_width(chart_line(label), kTickFont));
  for (const std::string& label : data.columns)
    column_labels = std::max(column_labels, chart_text_width(chart_line(label), kTickFont));
  for (const std::string& number : texts)
    numbers = std::max(numbers, chart_text_width(number, kSmallFont));
  HeatGrid out;
  out.area.left = std::min(labels, kMostHeatLabel) + 2 * kHeatGap;
  out.area.right = kChartWidth - 2 * kHeatGap;
  out.area.top = y_label_space(text.y_label);
  out.width = (out.area.right - out.area.left) / columns;
  out.height = std::min(30.0, std::max(2.0, kMostHeatHeight / rows));
  out.area.bottom = out.area.top + out.height * rows;
  out.row_step = static_cast<std::size_t>(std::ceil((kTickFont + 2) / out.height));
  const double wanted = std::min(column_labels + kHeatGap, kLeastColumnLabel);
  out.column_step = static_cast<std::size_t>(std::max(1.0, std::ceil(wanted / out.width)));
  out.numbers = numbers + 4 <= out.width && out.height >= kSmallFont + 4;
  return out;
}

/// Lines x + y = const inside a cell, as one path: a pattern would need a reference by URL.
SvgPath heat_hatching(double x, double y, double width, double height) {
  SvgPath out;
  const auto lines = static_cast<std::size_t>(std::ceil((width + height) / kHeatHatch)) - 1;
  for (std::size_t i = 1; i <= lines; ++i) {
    const double c = kHeatHatch * static_cast<double>(i);
    const double from = std::min(c, width), to = std::max(0.0, c - height);
    out.move(x + from, y + c - from).line(x + to, y + c - to);
  }
  return out;
}

void draw_heat_cell(SvgWriter& svg, const HeatMapData& data, const HeatGrid& grid,
                    const HeatLimits& limits, std::size_t index, const std::string& number) {
  const std::size_t r = index / data.columns.size(), c = index % data.columns.size();
  const double value = data.values[index];
  const double x = grid.area.left + grid.width * static_cast<double>(c);
  const double y = grid.area.top + grid.height * static_cast<double>(r);
  const bool drawn = can_be_drawn(value, AxisScale::Linear);
  const std::string level =
      drawn ? fmt::format("h{}", heat_level(value, limits.low, limits.high)) : "missing";
  svg.open("g", {{"class", level}});
  svg.tooltip(fmt::format("{}, {}: {}", data.rows[r], data.columns[c], chart_number(value)));
  const bool edged = std::min(grid.width, grid.height) >= kLeastEdged;
  svg.rect(x, y, grid.width, grid.height, edged ? "cell" : "cell dense");
  if (!drawn) svg.path(heat_hatching(x, y, grid.width, grid.height), "hatch");
  if (grid.numbers) {
    draw_label(svg, x + grid.width / 2, y + grid.height / 2, number,
               {.kind = TextKind::Small, .anchor = TextAnchor::Middle});
  }
  svg.close();
}

void draw_heat_labels(SvgWriter& svg, const HeatMapData& data, const HeatGrid& grid) {
  for (std::size_t r = 0; r < data.rows.size(); r += grid.row_step) {
    const double y = grid.area.top + grid.height * (static_cast<double>(r) + 0.5);
    draw_label(svg, grid.area.left - kHeatGap, y, data.rows[r],
               {.kind = TextKind::Tick,
                .anchor = TextAnchor::End,
                .space = grid.area.left - 2 * kHeatGap});
  }
  for (std::size_t c = 0; c < data.columns.size(); c += grid.column_step) {
    const double x = grid.area.left + grid.width * (static_cast<double>(c) + 0.5);
    draw_label(svg, x, grid.area.bottom + 13, data.columns[c],
               {.kind = TextKind::Tick,
                .anchor = TextAnchor::Middle,
                .space = grid.width * static_cast<double>(grid.column_step) - 4});
  }
}

/// The ten colours from the lowest to the highest value.
void draw_heat_key(SvgWriter& svg, const HeatMapData& data, const HeatLimits& limits, double x,
                   double y) {
  const std::string low = chart_number(limits.low), high = chart_number(limits.high);
  const double start = x + chart_text_width(low, kSmallFont) + kHeatGap;
  draw_label(svg, x, y, low, {.kind = TextKind::Small, .muted = true});
  for (int level = 0; level < 10; ++level) {
    svg.open("g", {{"class", fmt::format("h{}", level)}});
    svg.rect(start + kKeyCell * level, y - 7, kKeyCell, 14, "key");
    svg.close();
  }
  const double end = start + 10 * kKeyCell + kHeatGap;
  draw_label(svg, end, y, high, {.kind = TextKind::Small, .muted = true});
  if (data.value_label.empty()) return;
  const double name = end + chart_text_width(high, kSmallFont) + 2 * kHeatGap;
  draw_label(svg, name, y, data.value_label,
             {.kind = TextKind::Small, .space = kChartWidth - name - kHeatGap});
}

}  // namespace

int heat_level(double value, double low, double high) noexcept {
  if (!(low < high)) return 4;
  // Halves, so that the range of ±1e308 is finite.
  const double part = (value / 2 - low / 2) / (high / 2 - low / 2);
  return static_cast<int>(std::clamp(std::floor(part * 10), 0.0, 9.0));
}

std::string heat_map(const HeatMapData& data, const ChartText& text) {
  if (data.values.size() != data.rows.size() * data.columns.size()) {
    throw Error(fmt::format("a heat map of {} rows and {} columns has {} values", data.rows.size(),
                            data.columns.size(), data.values.size()));
  }
  const HeatLimits limits = heat_limits(data);
  if (!limits.any) return chart_without_data(text);
  const std::vector<std::string> texts = heat_texts(data, limits);
  const HeatGrid grid = heat_grid(data, text, texts);
  const double key_at = grid.area.bottom + x_axis_space(text.x_label);
  SvgWriter svg(text, kChartWidth, key_at + kHeatKeyHeight);
  if (!text.y_label.empty()) draw_label(svg, kHeatGap, grid.area.top - 20, text.y_label);
  svg.open("g", {{"class", data.scale == HeatScale::Sequential ? "sequential" : "diverging"}});
  for (std::size_t i = 0; i < data.values.size(); ++i)
    draw_heat_cell(svg, data, grid, limits, i, texts[i]);
  draw_heat_key(svg, data, limits, grid.area.left, key_at + kHeatKeyHeight / 2);
  svg.close();
  draw_heat_labels(svg, data, grid);
  if (!text.x_label.empty()) {
    draw_label(svg, (grid.area.left + grid.area.right) / 2, key_at - 12, text.x_label,
               {.anchor = TextAnchor::Middle, .space = grid.area.right - grid.area.left});
  }
  return svg.finish();
}

}  // namespace depthgrid
