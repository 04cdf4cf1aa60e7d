#include "sweeps/picture/band_plot.hpp"

#include <algorithm>

#include "sweeps/picture/end_labels.hpp"
#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kBandPlotHeight = 300;  // of the area, unless its labels need more

/// Points of all lines together: beyond, a picture grows and shows no more.
constexpr std::size_t kMostPlotPoints = 8'000, kLeastLinePoints = 48;

std::size_t points_of_a_line(const BandPlotData& data, std::size_t curves) {
  return std::min(data.most_points, std::max(kMostPlotPoints / curves, kLeastLinePoints));
}

}  // namespace

std::string band_plot(const BandPlotData& data, const ChartText& text) {
  for (const BandCurve& curve : data.curves) require_band_curve(curve);
  const AxisRange xs = padded_range(x_of_curves(data.curves), data.x_scale, text.x_label, 0.02);
  const AxisRange ys = padded_range(y_of_curves(data.curves), data.y_scale, text.y_label);
  std::vector<EndLabel> labels;
  std::vector<std::size_t> ends;  // index of the last point of each curve
  std::vector<const BandCurve*> curves;
  for (const BandCurve& curve : data.curves) {
    const auto points = drawn_points(curve, data.x_scale, data.y_scale);
    if (points.empty()) continue;
    curves.push_back(&curve);
    ends.push_back(points.back());
    labels.push_back({.text = curve.label, .series = curve.series});
  }
  if (curves.empty()) return chart_without_data(text);
  PlotArea area = {.top = y_label_space(text.y_label)};
  area.bottom = area.top + std::max(kBandPlotHeight, end_label_height(labels.size()));
  area.right = kChartWidth - end_label_space(labels);
  const ChartAxis y = chart_axis(ys, data.y_scale, area.bottom, area.top, 45);
  area.left = y_axis_space(y);
  const ChartAxis x = chart_axis(xs, data.x_scale, area.left, area.right, 60);
  const std::size_t most_points = points_of_a_line(data, curves.size());
  SvgWriter svg(text, kChartWidth, area.bottom + x_axis_space(text.x_label));
  draw_x_axis(svg, area, x, text.x_label);
  draw_y_axis(svg, area, y, text.y_label);
  draw_zero_y(svg, area, y);
  for (const BandCurve* curve : curves) {  // all bands lie below all lines
    svg.open("g", {{"class", series_class(curve->series)}});
    draw_band(svg, *curve, x, y, most_points);
    svg.close();
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    svg.open("g", {{"class", series_class(curves[i]->series)}});
    svg.tooltip(curves[i]->label);
    draw_curve(svg, *curves[i], x, y, most_points);
    svg.close();
    labels[i].x = x.pixel(curves[i]->x[ends[i]]);
    labels[i].y = y.pixel(curves[i]->mean[ends[i]]);
  }
  draw_end_labels(svg, area, labels);
  return svg.finish();
}

}  // namespace depthgrid
