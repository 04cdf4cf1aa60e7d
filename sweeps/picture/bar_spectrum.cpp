#include "sweeps/picture/bar_spectrum.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kSpectrumHeight = 280;
constexpr double kBarPart = 0.72, kWidestBar = 46;  // of the place of a bar; pixels
constexpr double kLeastCap = 1.5, kMostCap = 5;

AxisRange spectrum_range(const BarSpectrumData& data, const ChartText& text) {
  std::vector<double> values = data.values;
  for (const ChartInterval& interval : data.intervals)
    values.insert(values.end(), {interval.low, interval.high});
  values.push_back(0);
  AxisRange out = padded_range(values, AxisScale::Linear, text.y_label);
  // Bars stand on the axis unless some hang below it.
  const auto sided = [&](bool above) {
    return std::ranges::all_of(values, [&](double v) { return !(above ? v < 0 : v > 0); });
  };
  if (sided(true) && out.high > 0) out.low = 0;
  if (sided(false) && out.low < 0) out.high = 0;
  return out;
}

void draw_bar(SvgWriter& svg, const BarSpectrumData& data, const ChartAxis& y, std::size_t i,
              double middle, double slot) {
  const double value = data.values[i];
  const std::string name = fmt::format("{}", data.first_index + i);
  const ChartInterval interval = data.intervals.empty() ? ChartInterval{} : data.intervals[i];
  svg.open("g");
  svg.tooltip(fmt::format("{}: {}", name, chart_value_text(value, interval)));
  if (can_be_drawn(value, y.scale)) {
    const double width = std::min(kWidestBar, kBarPart * slot);
    const double top = std::min(y.pixel(0), y.pixel(value));
    svg.rect(middle - width / 2, top, width, std::abs(y.pixel(0) - y.pixel(value)), "bar");
    draw_interval(svg, y, interval, middle,
                  {.direction = IntervalDirection::Vertical,
                   .cap = std::clamp(width / 4, kLeastCap, kMostCap),
                   .classes = "interval over"},
                  name);
  } else {
    draw_label(svg, middle, y.pixel(0) - 9, chart_number(value),
               {.kind = TextKind::Small, .anchor = TextAnchor::Middle, .muted = true});
  }
  svg.close();
}

void draw_indices(SvgWriter& svg, const BarSpectrumData& data, const PlotArea& area, double slot) {
  const std::string last = fmt::format("{}", data.first_index + data.values.size() - 1);
  const double wanted = chart_text_width(last, kTickFont) + 8;
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(wanted / slot)));
  for (std::size_t i = 0; i < data.values.size(); i += step) {
    draw_label(svg, area.left + slot * (static_cast<double>(i) + 0.5), area.bottom + 13,
               fmt::format("{}", data.first_index + i),
               {.kind = TextKind::Tick, .anchor = TextAnchor::Middle});
  }
}

}  // namespace

std::string bar_spectrum(const BarSpectrumData& data, const ChartText& text) {
  if (!data.intervals.empty() && data.intervals.size() != data.values.size())
    throw Error("a spectrum has one interval for each value");
  if (std::ranges::none_of(data.values,
                           [](double v) { return can_be_drawn(v, AxisScale::Linear); })) {
    return chart_without_data(text);
  }
  const auto missing = static_cast<std::size_t>(std::ranges::count_if(
      data.values, [](double v) { return !can_be_drawn(v, AxisScale::Linear); }));
  PlotArea area = {.top = y_label_space(text.y_label), .right = kChartWidth - 16};
  area.bottom = area.top + kSpectrumHeight;
  const ChartAxis y =
      chart_axis(spectrum_range(data, text), AxisScale::Linear, area.bottom, area.top, 45);
  area.left = y_axis_space(y);
  const double slot = (area.right - area.left) / static_cast<double>(data.values.size());
  const double note_at = area.bottom + x_axis_space(text.x_label);
  SvgWriter svg(text, kChartWidth, note_at + (missing > 0 ? 24 : 0));
  draw_y_axis(svg, area, y, text.y_label);
  svg.open("g", {{"class", series_class(data.series)}});
  for (std::size_t i = 0; i < data.values.size(); ++i)
    draw_bar(svg, data, y, i, area.left + slot * (static_cast<double>(i) + 0.5), slot);
  svg.close();
  draw_zero_y(svg, area, y);
  draw_indices(svg, data, area, slot);
  if (!text.x_label.empty()) {
    draw_label(svg, (area.left + area.right) / 2, note_at - 12, text.x_label,
               {.anchor = TextAnchor::Middle, .space = area.right - area.left});
  }
  if (missing > 0) {
    draw_label(svg, 12, note_at + 10, omission_note(missing),
               {.kind = TextKind::Small, .muted = true});
  }
  return svg.finish();
}

}  // namespace depthgrid
