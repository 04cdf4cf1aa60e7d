#include "sweeps/picture/interaction_plot.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/picture/end_labels.hpp"
#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kInteractionHeight = 300, kInteractionMark = 5;
constexpr double kMostOffset = 9;  // between two lines at one level of B

void require_two_way_sizes(const InteractionPlotData& data) {
  const std::size_t cells = data.a_levels.size() * data.b_levels.size();
  const bool good =
      data.means.size() == cells && (data.intervals.empty() || data.intervals.size() == cells);
  if (good) return;
  throw Error(fmt::format("{} by {} levels have {} means and {} intervals", data.a_levels.size(),
                          data.b_levels.size(), data.means.size(), data.intervals.size()));
}

AxisRange interaction_range(const InteractionPlotData& data, const ChartText& text) {
  std::vector<double> values = data.means;
  for (const ChartInterval& interval : data.intervals)
    values.insert(values.end(), {interval.low, interval.high});
  return padded_range(values, AxisScale::Linear, text.y_label);
}

/// Where the levels of B lie, and how far each line is moved.
struct LevelPlaces {
  double first = 0, slot = 0, offset = 0;
  std::size_t lines = 0;
  double at(std::size_t a, std::size_t b) const {
    const double middle = static_cast<double>(lines - 1) / 2;
    return first + slot * (static_cast<double>(b) + 0.5) +
           offset * (static_cast<double>(a) - middle);
  }
};

LevelPlaces level_places(const InteractionPlotData& data, const PlotArea& area) {
  LevelPlaces out;
  out.lines = data.a_levels.size();
  out.first = area.left;
  out.slot = (area.right - area.left) / static_cast<double>(data.b_levels.size());
  out.offset = std::min(kMostOffset, out.slot / 2 / static_cast<double>(out.lines));
  return out;
}

void draw_level_line(SvgWriter& svg, const InteractionPlotData& data, const ChartAxis& y,
                     const LevelPlaces& places, std::size_t a) {
  SvgPath line;
  bool joined = false;
  for (std::size_t b = 0; b < data.b_levels.size(); ++b) {
    const double mean = data.means[a * data.b_levels.size() + b];
    const bool drawn = can_be_drawn(mean, y.scale);
    if (drawn) {
      const double px = places.at(a, b), py = y.pixel(mean);
      joined ? line.line(px, py) : line.move(px, py);
    }
    joined = drawn;
  }
  if (line.data().empty()) return;
  svg.leaf("path",
           {{"class", "curve"}, {"d", line.data()}, {"stroke-dasharray", series_dashes(a)}});
}

void draw_level_means(SvgWriter& svg, const InteractionPlotData& data, const ChartAxis& y,
                      const LevelPlaces& places, std::size_t a) {
  for (std::size_t b = 0; b < data.b_levels.size(); ++b) {
    const std::size_t cell = a * data.b_levels.size() + b;
    const double mean = data.means[cell];
    if (!can_be_drawn(mean, y.scale)) continue;
    const ChartInterval interval = data.intervals.empty() ? ChartInterval{} : data.intervals[cell];
    const std::string name = fmt::format("{}, {}", data.a_levels[a], data.b_levels[b]);
    svg.open("g");
    svg.tooltip(fmt::format("{}: {}", name, chart_value_text(mean, interval)));
    draw_interval(svg, y, interval, places.at(a, b), {.direction = IntervalDirection::Vertical},
                  name);
    draw_marker(svg, series_marker(a), places.at(a, b), y.pixel(mean), kInteractionMark, "mean");
    svg.close();
  }
}

void draw_level_names(SvgWriter& svg, const InteractionPlotData& data, const PlotArea& area,
                      double slot, const std::string& label) {
  svg.line(area.left, area.bottom, area.right, area.bottom, "axis");
  for (std::size_t b = 0; b < data.b_levels.size(); ++b) {
    draw_label(svg, area.left + slot * (static_cast<double>(b) + 0.5), area.bottom + 13,
               data.b_levels[b],
               {.kind = TextKind::Tick, .anchor = TextAnchor::Middle, .space = slot - 6});
  }
  if (label.empty()) return;
  draw_label(svg, (area.left + area.right) / 2, area.bottom + x_axis_space(label) - 12, label,
             {.anchor = TextAnchor::Middle, .space = area.right - area.left});
}

/// Labels of the lines with a mean, at the last of them.
std::vector<EndLabel> level_labels(const InteractionPlotData& data) {
  std::vector<EndLabel> out;
  out.reserve(data.a_levels.size());
  for (std::size_t a = 0; a < data.a_levels.size(); ++a)
    out.push_back({.text = data.a_levels[a], .series = a});
  return out;
}

void place_level_labels(std::vector<EndLabel>& labels, const InteractionPlotData& data,
                        const ChartAxis& y, const LevelPlaces& places) {
  std::vector<EndLabel> out;
  for (EndLabel& label : labels) {
    for (std::size_t b = data.b_levels.size(); b-- > 0;) {
      const double mean = data.means[label.series * data.b_levels.size() + b];
      if (!can_be_drawn(mean, y.scale)) continue;
      label.x = places.at(label.series, b) + kInteractionMark;
      label.y = y.pixel(mean);
      out.push_back(label);
      break;
    }
  }
  labels = std::move(out);
}

}  // namespace

std::string interaction_plot(const InteractionPlotData& data, const ChartText& text) {
  require_two_way_sizes(data);
  if (std::ranges::none_of(data.means,
                           [](double mean) { return can_be_drawn(mean, AxisScale::Linear); })) {
    return chart_without_data(text);
  }
  std::vector<EndLabel> labels = level_labels(data);
  PlotArea area = {.top = y_label_space(text.y_label)};
  area.bottom = area.top + std::max(kInteractionHeight, end_label_height(labels.size()));
  area.right = kChartWidth - end_label_space(labels);
  const ChartAxis y =
      chart_axis(interaction_range(data, text), AxisScale::Linear, area.bottom, area.top, 45);
  area.left = y_axis_space(y);
  const LevelPlaces places = level_places(data, area);
  SvgWriter svg(text, kChartWidth, area.bottom + x_axis_space(text.x_label));
  draw_y_axis(svg, area, y, text.y_label);
  draw_zero_y(svg, area, y);
  draw_level_names(svg, data, area, places.slot, text.x_label);
  for (std::size_t a = 0; a < data.a_levels.size(); ++a) {
    svg.open("g", {{"class", series_class(a)}});
    draw_level_line(svg, data, y, places, a);
    draw_level_means(svg, data, y, places, a);
    svg.close();
  }
  place_level_labels(labels, data, y, places);
  draw_end_labels(svg, area, labels);
  return svg.finish();
}

}  // namespace depthgrid
