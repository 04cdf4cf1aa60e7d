#include "sweeps/picture/mean_plot.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kSeedDot = 3.2, kMeanMark = 6, kMeanGap = 12, kMostArmLabel = 280;
constexpr double kMeanLane = 22;       // height of the mean with its interval
constexpr double kSeedStep = 7;        // from one dot of a stack to the next
constexpr std::size_t kMostStack = 8;  // higher stacks overlap: hundreds of seeds in one place
constexpr std::size_t kMostSeedsListed = 24;

/// Which place of its stack each dot takes, from 0: the lowest that no dot within a diameter has.
std::vector<std::size_t> stacked_dots(const std::vector<double>& pixels) {
  std::vector<std::size_t> order(pixels.size()), out(pixels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return pixels[i]; });
  std::vector<double> last_at(kMostStack, -kChartWidth);
  for (const std::size_t i : order) {
    std::size_t place = 0;
    while (place + 1 < kMostStack && pixels[i] - last_at[place] < 2 * kSeedDot) ++place;
    last_at[place] = pixels[i];
    out[i] = place;
  }
  return out;
}

/// A row as it is drawn.
struct PlacedMeanRow {
  const MeanRow* row = nullptr;
  std::vector<double> dots;          // pixels
  std::vector<std::size_t> heights;  // places in their stacks
  double height = 0;                 // of the row
};

PlacedMeanRow placed_mean_row(const MeanRow& row, const ChartAxis& x) {
  PlacedMeanRow out;
  out.row = &row;
  for (const double value : row.values) {
    if (can_be_drawn(value, x.scale)) out.dots.push_back(x.pixel(value));
  }
  out.heights = stacked_dots(out.dots);
  const std::size_t highest = out.heights.empty() ? 0 : std::ranges::max(out.heights);
  out.height = kMeanLane + kSeedStep * static_cast<double>(highest + 1) + 10;
  return out;
}

std::string mean_row_text(const MeanRow& row) {
  std::string out = row.label + ": ";
  if (!std::isnan(row.mean)) out += "mean " + chart_number(row.mean) + ", ";
  if (!std::isnan(row.interval.low)) out += "interval " + chart_interval_text(row.interval) + ", ";
  if (row.values.size() > kMostSeedsListed) {
    double low = kNaN, high = kNaN;  // fmin and fmax pass over NaN
    for (const double value : row.values) {
      low = std::fmin(low, value);
      high = std::fmax(high, value);
    }
    return out + fmt::format("{} seeds from {} to {}", row.values.size(), chart_number(low),
                             chart_number(high));
  }
  out += "seeds";
  for (const double value : row.values) out += " " + chart_number(value);
  return out;
}

void draw_mean_row(SvgWriter& svg, const PlotArea& area, const ChartAxis& x,
                   const PlacedMeanRow& placed, double top) {
  const MeanRow& row = *placed.row;
  const double low_lane = top + placed.height - kMeanLane / 2;
  svg.open("g", {{"class", series_class(row.series)}});
  svg.tooltip(mean_row_text(row));
  svg.rect(0, top, kChartWidth, placed.height, "hit");
  draw_label(svg, area.left - kMeanGap, top + placed.height / 2, row.label,
             {.anchor = TextAnchor::End, .space = area.left - 2 * kMeanGap});
  draw_interval(svg, x, row.interval, low_lane, {.cap = 5}, row.label);
  if (can_be_drawn(row.mean, x.scale))
    draw_marker(svg, series_marker(row.series), x.pixel(row.mean), low_lane, kMeanMark, "mean");
  const double first_dot = top + placed.height - kMeanLane - kSeedStep / 2;
  SvgPath dots;  // one element for a row: a page of many seeds would be mostly circles
  for (std::size_t i = 0; i < placed.dots.size(); ++i)
    dots.dot(placed.dots[i], first_dot - kSeedStep * static_cast<double>(placed.heights[i]));
  if (!placed.dots.empty()) svg.path(dots, "dots");
  svg.close();
}

}  // namespace

std::string mean_plot(const MeanPlotData& data, const ChartText& text) {
  std::vector<double> values;
  std::size_t missing = 0;
  double labels = 0;
  for (const MeanRow& row : data.rows) {
    values.insert(values.end(), row.values.begin(), row.values.end());
    values.insert(values.end(), {row.mean, row.interval.low, row.interval.high});
    missing += static_cast<std::size_t>(std::ranges::count_if(
        row.values, [&](double value) { return !can_be_drawn(value, data.scale); }));
    labels = std::max(labels, chart_text_width(chart_line(row.label), kLabelFont));
  }
  const AxisRange range = padded_range(values, data.scale, text.x_label);
  if (std::ranges::none_of(values, [&](double v) { return can_be_drawn(v, data.scale); }))
    return chart_without_data(text);
  PlotArea area = {.left = std::min(labels, kMostArmLabel) + 2 * kMeanGap,
                   .top = y_label_space(text.y_label),
                   .right = kChartWidth - 2 * kMeanGap};
  const ChartAxis x = chart_axis(range, data.scale, area.left, area.right, 60);
  std::vector<PlacedMeanRow> rows;
  area.bottom = area.top;
  for (const MeanRow& row : data.rows) {
    rows.push_back(placed_mean_row(row, x));
    area.bottom += rows.back().height;
  }
  const double note_at = area.bottom + x_axis_space(text.x_label);
  SvgWriter svg(text, kChartWidth, note_at + (missing > 0 ? 24 : 0));
  draw_x_axis(svg, area, x, text.x_label);
  draw_zero_x(svg, area, x);
  if (!text.y_label.empty()) draw_label(svg, kMeanGap / 2, area.top - 20, text.y_label);
  double top = area.top;
  for (const PlacedMeanRow& row : rows) {
    draw_mean_row(svg, area, x, row, top);
    top += row.height;
  }
  if (missing > 0) {
    draw_label(svg, kMeanGap, note_at + 10, omission_note(missing),
               {.kind = TextKind::Small, .muted = true});
  }
  return svg.finish();
}

}  // namespace depthgrid
