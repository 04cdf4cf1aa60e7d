#include "sweeps/picture/interval_plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/picture/plot_frame.hpp"

namespace depthgrid {
namespace {

constexpr double kIntervalRowHeight = 30, kIntervalMark = 5.5;
constexpr double kMostRowLabel = 260, kMostVerdict = 170, kIntervalGap = 12;

bool has_drawn_mean(const IntervalPlotData& data) {
  return std::ranges::any_of(
      data.rows, [](const IntervalRow& row) { return can_be_drawn(row.mean, AxisScale::Linear); });
}

AxisRange interval_range(const IntervalPlotData& data, const ChartText& text) {
  std::vector<double> values = {0};
  if (!std::isnan(data.margin)) values.insert(values.end(), {-data.margin, data.margin});
  for (const IntervalRow& row : data.rows) {
    values.insert(values.end(), {row.mean, row.interval.low, row.interval.high,
                                 row.simultaneous.low, row.simultaneous.high});
  }
  return padded_range(values, AxisScale::Linear, text.x_label);
}

PlotArea interval_area(const IntervalPlotData& data, const ChartText& text) {
  double labels = 0, verdicts = 0;
  for (const IntervalRow& row : data.rows) {
    labels = std::max(labels, chart_text_width(chart_line(row.label), kLabelFont));
    verdicts = std::max(verdicts, chart_text_width(chart_line(row.verdict), kLabelFont));
  }
  const double top = y_label_space(text.y_label);
  return {.left = std::min(labels, kMostRowLabel) + 2 * kIntervalGap,
          .top = top,
          .right = kChartWidth - std::min(verdicts, kMostVerdict) - 2 * kIntervalGap,
          .bottom = top + kIntervalRowHeight * static_cast<double>(data.rows.size())};
}

std::string interval_row_text(const IntervalRow& row) {
  std::string out = fmt::format("{}: {}", row.label, chart_number(row.mean));
  if (!std::isnan(row.interval.low)) out += ", interval " + chart_interval_text(row.interval);
  if (!std::isnan(row.simultaneous.low))
    out += ", simultaneous " + chart_interval_text(row.simultaneous);
  return row.verdict.empty() ? out : out + ", " + row.verdict;
}

void draw_interval_row(SvgWriter& svg, const PlotArea& area, const ChartAxis& x,
                       const IntervalRow& row, double y) {
  svg.open("g", {{"class", series_class(series_of(row.marker))}});
  svg.tooltip(interval_row_text(row));
  svg.rect(0, y - kIntervalRowHeight / 2, kChartWidth, kIntervalRowHeight, "hit");
  draw_label(svg, area.left - kIntervalGap, y, row.label,
             {.anchor = TextAnchor::End, .space = area.left - 2 * kIntervalGap});
  draw_interval(svg, x, row.simultaneous, y, {.cap = 3, .classes = "simultaneous"}, row.label);
  draw_interval(svg, x, row.interval, y, {.cap = 5}, row.label);
  if (can_be_drawn(row.mean, x.scale)) {
    draw_marker(svg, row.marker, x.pixel(row.mean), y, kIntervalMark, "mean");
  } else {
    draw_label(svg, (area.left + area.right) / 2, y, chart_number(row.mean),
               {.anchor = TextAnchor::Middle, .muted = true});
  }
  if (!row.verdict.empty()) {
    draw_label(svg, area.right + kIntervalGap, y, row.verdict,
               {.space = kChartWidth - area.right - 1.5 * kIntervalGap});
  }
  svg.close();
}

}  // namespace

std::string interval_plot(const IntervalPlotData& data, const ChartText& text) {
  if (data.margin <= 0) throw Error("the margin of an interval plot is above 0");
  if (!has_drawn_mean(data)) return chart_without_data(text);
  const PlotArea area = interval_area(data, text);
  const ChartAxis x =
      chart_axis(interval_range(data, text), AxisScale::Linear, area.left, area.right, 60);
  SvgWriter svg(text, kChartWidth, area.bottom + x_axis_space(text.x_label));
  if (can_be_drawn(data.margin, x.scale)) {
    const double left = x.pixel(-data.margin), right = x.pixel(data.margin);
    svg.open("g");
    svg.tooltip(fmt::format("margin: ±{}", chart_number(data.margin)));
    svg.rect(left, area.top, right - left, area.bottom - area.top, "band margin");
    svg.close();
  }
  draw_x_axis(svg, area, x, text.x_label);
  draw_zero_x(svg, area, x);
  if (!text.y_label.empty()) draw_label(svg, kIntervalGap / 2, area.top - 20, text.y_label);
  double y = area.top + kIntervalRowHeight / 2;
  for (const IntervalRow& row : data.rows) {
    draw_interval_row(svg, area, x, row, y);
    y += kIntervalRowHeight;
  }
  return svg.finish();
}

}  // namespace depthgrid
