#include "sweeps/picture/band_curve.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/picture/chart_text.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kLonePoint = 2.5;

/// A point of a line in pixels; `joined`: no gap between it and the point before.
struct LinePoint {
  double x = 0, y = 0;
  bool joined = false;
};

/// At most `most` of the points `index` of a line, whose n points lie at x and y_at(i). They are
/// thinned together: gaps must not let the number of points grow.
std::vector<LinePoint> thinned_line(std::span<const std::size_t> index, const BandCurve& curve,
                                    const ChartAxis& x, const std::function<double(std::size_t)>& y,
                                    std::size_t most) {
  std::vector<double> px, py;
  for (const std::size_t i : index) {
    px.push_back(x.pixel(curve.x[i]));
    py.push_back(y(i));
  }
  std::vector<LinePoint> out;
  std::size_t before = 0;
  for (const std::size_t k : m4_points(px, py, most)) {
    // Without a gap, as many points that can be drawn lie between the two as points at all.
    const bool joined = !out.empty() && index[k] - index[before] == k - before;
    out.push_back({.x = px[k], .y = py[k], .joined = joined});
    before = k;
  }
  return out;
}

bool has_limits(const BandCurve& curve) {
  return !curve.low.empty();
}

std::vector<std::size_t> points_where(const BandCurve& curve,
                                      const std::function<bool(std::size_t)>& drawn) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (drawn(i)) out.push_back(i);
  }
  return out;
}

/// First index of each run of joined points, and the number of points.
std::vector<std::size_t> run_starts(std::span<const LinePoint> line) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!line[i].joined) out.push_back(i);
  }
  out.push_back(line.size());
  return out;
}

}  // namespace

std::vector<std::size_t> m4_points(std::span<const double> x, std::span<const double> y,
                                   std::size_t most) {
  if (x.size() != y.size()) throw Error("a curve has one y for each x");
  if (most < 4) throw Error("a curve is drawn with at least four points");
  if (!std::ranges::is_sorted(x)) throw Error("the x of a curve do not decrease");
  std::vector<std::size_t> out(x.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  if (x.size() <= most) return out;
  out.clear();
  const std::size_t columns = most / 4;
  const double width = (x.back() - x.front()) / static_cast<double>(columns);
  const auto column_of = [&](std::size_t i) {
    if (!(width > 0)) return std::size_t{0};
    return std::min(columns - 1, static_cast<std::size_t>((x[i] - x.front()) / width));
  };
  for (std::size_t first = 0; first < x.size();) {
    std::size_t lowest = first, highest = first, end = first + 1;
    for (; end < x.size() && column_of(end) == column_of(first); ++end) {
      if (y[end] < y[lowest]) lowest = end;
      if (y[end] > y[highest]) highest = end;
    }
    const std::array<std::size_t, 4> kept = {first, std::min(lowest, highest),
                                             std::max(lowest, highest), end - 1};
    for (const std::size_t i : kept) {
      if (out.empty() || out.back() != i) out.push_back(i);
    }
    first = end;
  }
  return out;
}

void require_band_curve(const BandCurve& curve) {
  const auto fail = [&](const char* what) {
    throw Error(fmt::format("curve '{}': {}", chart_line(curve.label), what));
  };
  const std::size_t n = curve.x.size();
  const bool bands = !curve.low.empty() || !curve.high.empty();
  if (curve.mean.size() != n) fail("one mean for each x");
  if (bands && (curve.low.size() != n || curve.high.size() != n)) fail("one limit for each x");
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && curve.x[i] < curve.x[i - 1]) fail("x does not decrease");
    if (bands && curve.low[i] > curve.high[i]) fail("a lower limit is above the upper one");
  }
}

std::vector<double> x_of_curves(std::span<const BandCurve> curves) {
  std::vector<double> out;
  for (const BandCurve& curve : curves) out.insert(out.end(), curve.x.begin(), curve.x.end());
  return out;
}

std::vector<double> y_of_curves(std::span<const BandCurve> curves) {
  std::vector<double> out;
  for (const BandCurve& curve : curves) {
    for (const std::vector<double>* values : {&curve.mean, &curve.low, &curve.high})
      out.insert(out.end(), values->begin(), values->end());
  }
  return out;
}

std::vector<std::size_t> drawn_points(const BandCurve& curve, AxisScale x, AxisScale y) {
  return points_where(curve, [&](std::size_t i) {
    return can_be_drawn(curve.x[i], x) && can_be_drawn(curve.mean[i], y);
  });
}

void draw_band(SvgWriter& svg, const BandCurve& curve, const ChartAxis& x, const ChartAxis& y,
               std::size_t most_points) {
  if (!has_limits(curve)) return;
  const auto index = points_where(curve, [&](std::size_t i) {
    return can_be_drawn(curve.x[i], x.scale) && can_be_drawn(curve.low[i], y.scale) &&
           can_be_drawn(curve.high[i], y.scale);
  });
  // The first and the last point of a run may fall to other columns than its extremes, so each
  // run is thinned by itself, with a share of the points.
  SvgPath path;
  for (std::size_t start = 0; start < index.size();) {
    std::size_t end = start + 1;
    while (end < index.size() && index[end] == index[end - 1] + 1) ++end;
    const std::span<const std::size_t> run = std::span(index).subspan(start, end - start);
    const std::size_t share = std::max<std::size_t>(4, most_points * run.size() / index.size());
    const auto upper =
        thinned_line(run, curve, x, [&](std::size_t i) { return y.pixel(curve.high[i]); }, share);
    const auto lower =
        thinned_line(run, curve, x, [&](std::size_t i) { return y.pixel(curve.low[i]); }, share);
    for (std::size_t i = 0; i < upper.size(); ++i)
      i == 0 ? path.move(upper[i].x, upper[i].y) : path.line(upper[i].x, upper[i].y);
    for (std::size_t i = lower.size(); i-- > 0;) path.line(lower[i].x, lower[i].y);
    path.close();
    start = end;
  }
  if (!path.data().empty()) svg.path(path, "band");
}

void draw_curve(SvgWriter& svg, const BandCurve& curve, const ChartAxis& x, const ChartAxis& y,
                std::size_t most_points) {
  const auto line = thinned_line(
      drawn_points(curve, x.scale, y.scale), curve, x,
      [&](std::size_t i) { return y.pixel(curve.mean[i]); }, most_points);
  const std::vector<std::size_t> starts = run_starts(line);
  SvgPath path;
  for (std::size_t run = 0; run + 1 < starts.size(); ++run) {
    if (starts[run + 1] - starts[run] == 1) continue;
    for (std::size_t i = starts[run]; i < starts[run + 1]; ++i)
      line[i].joined ? path.line(line[i].x, line[i].y) : path.move(line[i].x, line[i].y);
  }
  if (!path.data().empty()) {
    svg.leaf("path", {{"class", "curve"},
                      {"d", path.data()},
                      {"stroke-dasharray", series_dashes(curve.series)}});
  }
  for (std::size_t run = 0; run + 1 < starts.size(); ++run) {
    const LinePoint& point = line[std::min(starts[run], line.size() - 1)];
    if (starts[run + 1] - starts[run] == 1)
      draw_marker(svg, MarkerShape::Circle, point.x, point.y, kLonePoint, "point");
  }
}

}  // namespace depthgrid
