#include "sweeps/picture/small_multiples.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kPanelHeight = 150, kPanelTitle = 24, kPanelGap = 28, kPanelMargin = 14;
constexpr double kKeyLine = 36, kKeyRow = 22, kKeyGap = 22, kMostKeyLabel = 250;

std::vector<BandCurve> all_panel_curves(const SmallMultiplesData& data) {
  std::vector<BandCurve> out;
  for (const MultiplePanel& panel : data.panels)
    out.insert(out.end(), panel.curves.begin(), panel.curves.end());
  return out;
}

/// One entry of the key: a piece of the line and its name.
struct KeyEntry {
  std::string label;
  std::size_t series = 0;
  double x = 0, y = 0;
};

/// In the order of first appearance, from left to right and on in further rows.
std::vector<KeyEntry> key_entries(const std::vector<BandCurve>& curves) {
  std::vector<KeyEntry> out;
  double x = kPanelMargin, y = kKeyRow / 2 + 4;
  for (const BandCurve& curve : curves) {
    const auto known = [&](const KeyEntry& e) {
      return e.label == curve.label && e.series == curve.series;
    };
    if (curve.label.empty() || std::ranges::any_of(out, known)) continue;
    const double label = chart_text_width(chart_line(curve.label), kTickFont);
    const double width = kKeyLine + 8 + std::min(label, kMostKeyLabel);
    if (x > kPanelMargin && x + width > kChartWidth - kPanelMargin) {
      x = kPanelMargin;
      y += kKeyRow;
    }
    out.push_back({.label = curve.label, .series = curve.series, .x = x, .y = y});
    x += width + kKeyGap;
  }
  return out;
}

void draw_key(SvgWriter& svg, const std::vector<KeyEntry>& entries) {
  for (const KeyEntry& entry : entries) {
    svg.open("g", {{"class", series_class(entry.series)}});
    SvgPath line;
    line.move(entry.x, entry.y).line(entry.x + kKeyLine, entry.y);
    svg.leaf("path", {{"class", "sample"},
                      {"d", line.data()},
                      {"stroke-dasharray", series_dashes(entry.series)}});
    draw_label(svg, entry.x + kKeyLine + 8, entry.y, entry.label,
               {.kind = TextKind::Tick, .space = kMostKeyLabel});
    svg.close();
  }
}

bool panel_has_points(const MultiplePanel& panel, const SmallMultiplesData& data) {
  return std::ranges::any_of(panel.curves, [&](const BandCurve& curve) {
    return !drawn_points(curve, data.x_scale, data.y_scale).empty();
  });
}

void draw_panel_marks(SvgWriter& svg, const SmallMultiplesData& data, const MultiplePanel& panel,
                      const ChartAxis& x, const ChartAxis& y) {
  for (const BandCurve& curve : panel.curves) {
    svg.open("g", {{"class", series_class(curve.series)}});
    draw_band(svg, curve, x, y, data.most_points);
    svg.close();
  }
  for (const BandCurve& curve : panel.curves) {
    svg.open("g", {{"class", series_class(curve.series)}});
    svg.tooltip(curve.label);
    draw_curve(svg, curve, x, y, data.most_points);
    svg.close();
  }
}

/// Places of the panels.
struct PanelGrid {
  double left = 0, top = 0, width = 0;
  std::size_t columns = 1, rows = 1;
  PlotArea area(std::size_t panel) const {
    const std::size_t row = panel / columns, column = panel % columns;
    const double x = left + static_cast<double>(column) * (width + kPanelGap);
    const double y = top + static_cast<double>(row) * (kPanelHeight + kPanelTitle) + kPanelTitle;
    return {.left = x, .top = y, .right = x + width, .bottom = y + kPanelHeight};
  }
};

}  // namespace

std::string small_multiples(const SmallMultiplesData& data, const ChartText& text) {
  if (data.columns < 1 || data.columns > 4) throw Error("small multiples have 1 to 4 columns");
  const std::vector<BandCurve> curves = all_panel_curves(data);
  for (const BandCurve& curve : curves) require_band_curve(curve);
  const AxisRange xs = padded_range(x_of_curves(curves), data.x_scale, text.x_label, 0.02);
  const AxisRange ys = padded_range(y_of_curves(curves), data.y_scale, text.y_label);
  if (std::ranges::none_of(data.panels,
                           [&](const MultiplePanel& p) { return panel_has_points(p, data); })) {
    return chart_without_data(text);
  }
  const std::vector<KeyEntry> entries = key_entries(curves);
  PanelGrid grid;
  grid.columns = std::min(data.columns, data.panels.size());
  grid.rows = (data.panels.size() + grid.columns - 1) / grid.columns;
  const double key = entries.empty() ? 0 : entries.back().y + kKeyRow / 2 + 4;
  grid.top = key + y_label_space(text.y_label);
  grid.left = y_axis_space(chart_axis(ys, data.y_scale, kPanelHeight, 0, 40));
  const auto gaps = static_cast<double>(grid.columns - 1);
  grid.width = (kChartWidth - kPanelMargin - grid.left - gaps * kPanelGap) / (gaps + 1);
  const double bottom = grid.area((grid.rows - 1) * grid.columns).bottom;
  SvgWriter svg(text, kChartWidth, bottom + x_axis_space(text.x_label));
  draw_key(svg, entries);
  if (!text.y_label.empty()) draw_label(svg, 6, grid.top - 18, text.y_label);
  for (std::size_t i = 0; i < data.panels.size(); ++i) {
    const MultiplePanel& panel = data.panels[i];
    const PlotArea area = grid.area(i);
    const ChartAxis x = chart_axis(xs, data.x_scale, area.left, area.right, 55);
    const ChartAxis y = chart_axis(ys, data.y_scale, area.bottom, area.top, 40);
    svg.open("g");
    draw_label(svg, area.left, area.top - 11, panel.title, {.space = area.right - area.left});
    i % grid.columns == 0 ? draw_y_axis(svg, area, y, "") : draw_y_grid(svg, area, y);
    const bool lowest = i + grid.columns >= data.panels.size();
    lowest ? draw_x_axis(svg, area, x, "") : draw_x_grid(svg, area, x);
    draw_zero_y(svg, area, y);
    if (panel_has_points(panel, data)) {
      draw_panel_marks(svg, data, panel, x, y);
    } else {
      draw_label(svg, (area.left + area.right) / 2, (area.top + area.bottom) / 2, "no data",
                 {.anchor = TextAnchor::Middle, .muted = true});
    }
    svg.close();
  }
  if (!text.x_label.empty()) {
    draw_label(svg, (grid.left + kChartWidth - kPanelMargin) / 2,
               bottom + x_axis_space(text.x_label) - 12, text.x_label,
               {.anchor = TextAnchor::Middle});
  }
  return svg.finish();
}

}  // namespace depthgrid
