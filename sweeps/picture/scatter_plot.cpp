#include "sweeps/picture/scatter_plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kScatterHeight = 320, kScatterMark = 5.5, kScatterLine = 16;
constexpr std::size_t kMostJoined = 24;  // points of which labels may stand far away
constexpr double kMostPointLabel = 320, kShortPointLabel = 150, kPointLabelGap = 10,
                 kIntervalCap = 4;

struct ScatterBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool meets(const ScatterBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// Where the label of a point may stand.
struct PointLabelPlace {
  double x = 0, y = 0;
  TextAnchor anchor = TextAnchor::Start;
  ScatterBox box;
};

std::vector<PointLabelPlace> label_places(double x, double y, double width) {
  const double half = kScatterLine / 2;
  const auto place = [&](double left, double middle, TextAnchor anchor) {
    const double at = anchor == TextAnchor::Start ? left
                      : anchor == TextAnchor::End ? left + width
                                                  : left + width / 2;
    return PointLabelPlace{at, middle, anchor, {left, middle - half, left + width, middle + half}};
  };
  const double up = y - half - kScatterMark - 2, down = y + half + kScatterMark + 2;
  return {place(x + kPointLabelGap, y, TextAnchor::Start),
          place(x - kPointLabelGap - width, y, TextAnchor::End),
          place(x - width / 2, up, TextAnchor::Middle),
          place(x - width / 2, down, TextAnchor::Middle),
          place(x + kScatterMark, up, TextAnchor::Start),
          place(x + kScatterMark, down, TextAnchor::Start)};
}

ScatterBox mark_box(double x, double y) {
  const double reach = kScatterMark + 1;
  return {x - reach, y - reach, x + reach, y + reach};
}

struct ScatterCorner {
  double x = 0, y = 0;
};

/// From the top edge down to the first point of the front, over its steps, to the right edge.
std::vector<ScatterCorner> front_corners(const PlotArea& area, const ChartAxis& x,
                                         const ChartAxis& y,
                                         const std::vector<ScatterPoint>& points) {
  std::vector<ScatterCorner> out;
  double last_y = area.top;
  for (const std::size_t i : pareto_front(points)) {
    const double px = x.pixel(points[i].x), py = y.pixel(points[i].y);
    out.push_back({px, last_y});
    out.push_back({px, py});
    last_y = py;
  }
  out.push_back({area.right, last_y});
  return out;
}

SvgPath front_path(const std::vector<ScatterCorner>& corners) {
  SvgPath out;
  for (const ScatterCorner& corner : corners)
    out.data().empty() ? out.move(corner.x, corner.y) : out.line(corner.x, corner.y);
  return out;
}

/// What labels keep clear of: the marks, the intervals and the pieces of the front.
std::vector<ScatterBox> taken_boxes(const ChartAxis& x, const ChartAxis& y,
                                    const std::vector<ScatterPoint>& points,
                                    const std::vector<ScatterCorner>& front) {
  std::vector<ScatterBox> out;
  for (const ScatterPoint& point : points) {
    const double px = x.pixel(point.x);
    out.push_back(mark_box(px, y.pixel(point.y)));
    if (std::isnan(point.interval.low) || std::isnan(point.interval.high)) continue;
    out.push_back({px - kIntervalCap, y.pixel_within(point.interval.high), px + kIntervalCap,
                   y.pixel_within(point.interval.low)});
  }
  for (std::size_t i = 1; i < front.size(); ++i) {
    const auto [left, right] = std::minmax({front[i - 1].x, front[i].x});
    const auto [top, bottom] = std::minmax({front[i - 1].y, front[i].y});
    out.push_back({left - 1, top - 1, right + 1, bottom + 1});
  }
  return out;
}

/// Places farther away, which a line joins to the point: on rings around it, the nearest first.
std::vector<PointLabelPlace> far_places(double x, double y, double width) {
  std::vector<PointLabelPlace> out;
  const double half = kScatterLine / 2;
  for (const double reach : {22.0, 36.0, 52.0, 72.0, 96.0, 120.0, 146.0, 174.0}) {
    for (const double up : {-1.0, 1.0, -0.4, 0.4}) {
      const double middle = y + up * reach;
      out.push_back({x + reach,
                     middle,
                     TextAnchor::Start,
                     {x + reach, middle - half, x + reach + width, middle + half}});
      out.push_back({x - reach,
                     middle,
                     TextAnchor::End,
                     {x - reach - width, middle - half, x - reach, middle + half}});
    }
  }
  return out;
}

/// The first place within the area that nothing else takes; nothing if there is none.
const PointLabelPlace* free_place(const PlotArea& area, const std::vector<PointLabelPlace>& places,
                                  const std::vector<ScatterBox>& taken) {
  for (const PointLabelPlace& place : places) {
    const ScatterBox& box = place.box;
    const bool inside = box.left >= area.left && box.right <= kChartWidth &&
                        box.top >= area.top - kScatterLine && box.bottom <= area.bottom;
    const auto met = [&box](const ScatterBox& other) { return box.meets(other); };
    if (inside && std::ranges::none_of(taken, met)) return &place;
  }
  return nullptr;
}

/// Labels in the order of the points, each whole at the first place that is free: beside its point
/// or, of a few points, on a ring around it; else cut; without a place it is left to the tooltip.
void draw_point_labels(SvgWriter& svg, const PlotArea& area, const ChartAxis& x, const ChartAxis& y,
                       const std::vector<ScatterPoint>& points, std::vector<ScatterBox> taken) {
  const bool few = points.size() <= kMostJoined;
  for (const ScatterPoint& point : points) {
    if (point.label.empty()) continue;
    const double px = x.pixel(point.x), py = y.pixel(point.y);
    for (const double space : {kMostPointLabel, kShortPointLabel}) {
      const double width =
          chart_text_width(cut_to_width(point.label, space, kSmallFont), kSmallFont);
      const std::vector<PointLabelPlace> near = label_places(px, py, width);
      const std::vector<PointLabelPlace> far =
          few ? far_places(px, py, width) : std::vector<PointLabelPlace>();
      const PointLabelPlace* const beside = free_place(area, near, taken);
      const PointLabelPlace* const place =
          beside != nullptr ? beside : free_place(area, far, taken);
      if (place == nullptr) continue;
      taken.push_back(place->box);
      if (beside == nullptr) {
        SvgPath leader;
        const double gap = place->anchor == TextAnchor::Start ? -3 : 3;
        leader.move(px, py).line(place->x + gap, place->y);
        svg.open("g", {{"class", series_class(point.series)}});
        svg.path(leader, "leader");
        svg.close();
      }
      draw_label(svg, place->x, place->y, point.label,
                 {.kind = TextKind::Small, .anchor = place->anchor, .space = space});
      break;
    }
  }
}

}  // namespace

std::vector<std::size_t> pareto_front(std::span<const ScatterPoint> points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isnan(points[i].x) && !std::isnan(points[i].y)) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return points[a].x < points[b].x || (points[a].x == points[b].x && points[a].y < points[b].y);
  });
  std::vector<std::size_t> out;
  for (const std::size_t i : order) {
    const ScatterPoint& point = points[i];
    const bool better = out.empty() || point.y < points[out.back()].y;
    const bool equal =
        !out.empty() && point.x == points[out.back()].x && point.y == points[out.back()].y;
    if (better || equal) out.push_back(i);
  }
  return out;
}

std::string scatter_plot(const ScatterPlotData& data, const ChartText& text) {
  std::vector<double> xs, ys;
  std::vector<ScatterPoint> points;  // that can be drawn
  for (const ScatterPoint& point : data.points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
    if (!can_be_drawn(point.x, data.x_scale) || !can_be_drawn(point.y, data.y_scale)) continue;
    points.push_back(point);
    ys.insert(ys.end(), {point.interval.low, point.interval.high});
  }
  const AxisRange x_range = padded_range(xs, data.x_scale, text.x_label, 0.08);
  const AxisRange y_range = padded_range(ys, data.y_scale, text.y_label, 0.08);
  if (points.empty()) return chart_without_data(text);
  const std::size_t missing = data.points.size() - points.size();
  PlotArea area = {.top = y_label_space(text.y_label), .right = kChartWidth - 20};
  area.bottom = area.top + kScatterHeight;
  const ChartAxis y = chart_axis(y_range, data.y_scale, area.bottom, area.top, 45);
  area.left = y_axis_space(y);
  const ChartAxis x = chart_axis(x_range, data.x_scale, area.left, area.right, 60);
  const double note_at = area.bottom + x_axis_space(text.x_label);
  SvgWriter svg(text, kChartWidth, note_at + (missing > 0 ? 24 : 0));
  draw_x_axis(svg, area, x, text.x_label);
  draw_y_axis(svg, area, y, text.y_label);
  std::vector<ScatterCorner> front;
  if (data.front) front = front_corners(area, x, y, points);
  if (data.front) svg.path(front_path(front), "front");
  for (const ScatterPoint& point : points) {
    svg.open("g", {{"class", series_class(point.series)}});
    svg.tooltip(fmt::format("{}: {}, {}", point.label, chart_number(point.x),
                            chart_value_text(point.y, point.interval)));
    draw_interval(svg, y, point.interval, x.pixel(point.x),
                  {.direction = IntervalDirection::Vertical, .cap = kIntervalCap}, point.label);
    draw_marker(svg, series_marker(point.series), x.pixel(point.x), y.pixel(point.y), kScatterMark,
                "point");
    svg.close();
  }
  draw_point_labels(svg, area, x, y, points, taken_boxes(x, y, points, front));
  if (missing > 0) {
    const std::string note = fmt::format("Not drawn: {} {} a coordinate that is not finite.",
                                         missing, missing == 1 ? "point with" : "points with");
    draw_label(svg, 12, note_at + 10, note, {.kind = TextKind::Small, .muted = true});
  }
  return svg.finish();
}

}  // namespace depthgrid
