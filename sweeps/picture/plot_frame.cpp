#include "sweeps/picture/plot_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr double kTickGap = 6;          // between an axis and its labels
constexpr double kLabelGap = 10;        // least distance of labels of ticks along an axis
constexpr double kOverhang = 12;        // of such a label beyond its axis
constexpr double kMiddleOfText = 0.35;  // em from the middle of small letters to the base line
constexpr double kTickSpace = 24, kAxisLabelSpace = 24;

struct TextClass {
  std::string_view name, muted;
  double font;
};
constexpr std::array<TextClass, 3> kTextClasses = {{{"label", "label muted", kLabelFont},
                                                    {"tick", "tick muted", kTickFont},
                                                    {"small", "small muted", kSmallFont}}};

const TextClass& text_class(TextKind kind) {
  return kTextClasses.at(static_cast<std::size_t>(kind));
}

std::string_view anchor_word(TextAnchor anchor) {
  if (anchor == TextAnchor::Start) return "";  // the default
  return anchor == TextAnchor::Middle ? "middle" : "end";
}

bool shows_zero(const ChartAxis& axis) {
  return axis.scale == AxisScale::Linear && axis.range.low <= 0 && axis.range.high >= 0;
}

}  // namespace

double font_of(TextKind kind) noexcept {
  return text_class(kind).font;
}

void draw_label(SvgWriter& svg, double x, double y, std::string_view text, const LabelForm& form) {
  const TextClass& look = text_class(form.kind);
  const std::string line = chart_line(text);
  const std::string shown = cut_to_width(line, form.space, look.font);
  svg.text(shown,
           {{"class", form.muted ? look.muted : look.name},
            {"x", x},
            {"y", y + kMiddleOfText * look.font},
            {"text-anchor", anchor_word(form.anchor)}},
           shown == line ? "" : line);
}

double x_axis_space(std::string_view label) noexcept {
  return kTickSpace + (label.empty() ? 0 : kAxisLabelSpace);
}

double y_label_space(std::string_view label) noexcept {
  return label.empty() ? 12 : 34;
}

double y_axis_space(const ChartAxis& y) {
  double widest = 0;
  for (const AxisTick& tick : y.ticks)
    widest = std::max(widest, chart_text_width(tick.label, kTickFont));
  return widest + 2 * kTickGap;
}

void draw_x_grid(SvgWriter& svg, const PlotArea& area, const ChartAxis& x) {
  for (const AxisTick& tick : x.ticks) {
    const double at = x.pixel_within(tick.value);
    svg.line(at, area.top, at, area.bottom, "grid");
  }
  svg.line(area.left, area.bottom, area.right, area.bottom, "axis");
}

void draw_y_grid(SvgWriter& svg, const PlotArea& area, const ChartAxis& y) {
  for (const AxisTick& tick : y.ticks) {
    const double at = y.pixel_within(tick.value);
    svg.line(area.left, at, area.right, at, "grid");
  }
  svg.line(area.left, area.top, area.left, area.bottom, "axis");
}

void draw_x_axis(SvgWriter& svg, const PlotArea& area, const ChartAxis& x, std::string_view label) {
  draw_x_grid(svg, area, x);
  double taken = -kLabelGap;
  for (const AxisTick& tick : x.ticks) {
    const double half = chart_text_width(tick.label, kTickFont) / 2;
    // Kept near the plot, so that panels side by side do not write into each other.
    const double least = area.left - kOverhang + half, most = area.right + kOverhang - half;
    const double middle = std::max(least, std::min(x.pixel_within(tick.value), most));
    if (middle - half < taken + kLabelGap) continue;
    taken = middle + half;
    draw_label(svg, middle, area.bottom + kTickGap + kTickFont / 2, tick.label,
               {.kind = TextKind::Tick, .anchor = TextAnchor::Middle});
  }
  if (label.empty()) return;
  draw_label(svg, (area.left + area.right) / 2, area.bottom + kTickSpace + kAxisLabelSpace / 2,
             label, {.anchor = TextAnchor::Middle, .space = area.right - area.left});
}

void draw_y_axis(SvgWriter& svg, const PlotArea& area, const ChartAxis& y, std::string_view label) {
  draw_y_grid(svg, area, y);
  for (const AxisTick& tick : y.ticks) {
    draw_label(svg, area.left - kTickGap, y.pixel_within(tick.value), tick.label,
               {.kind = TextKind::Tick, .anchor = TextAnchor::End});
  }
  if (label.empty()) return;
  draw_label(svg, kTickGap, area.top - 20, label, {.space = kChartWidth - 2 * kTickGap});
}

void draw_zero_x(SvgWriter& svg, const PlotArea& area, const ChartAxis& x) {
  if (shows_zero(x)) svg.line(x.pixel(0), area.top, x.pixel(0), area.bottom, "zero");
}

void draw_zero_y(SvgWriter& svg, const PlotArea& area, const ChartAxis& y) {
  if (shows_zero(y)) svg.line(area.left, y.pixel(0), area.right, y.pixel(0), "zero");
}

void draw_interval(SvgWriter& svg, const ChartAxis& axis, const ChartInterval& interval,
                   double across, const IntervalForm& form, std::string_view name) {
  const auto [low, high] = interval;
  if (low > high) {
    throw Error(fmt::format("interval of '{}': its lower limit {} is above the upper one, {}",
                            chart_line(name), chart_number(low), chart_number(high)));
  }
  if (std::isnan(low) || std::isnan(high)) return;
  SvgPath path;
  const auto stroke = [&](double from, double to, double side, double other) {
    if (form.direction == IntervalDirection::Horizontal) {
      path.move(from, across + side).line(to, across + other);
    } else {
      path.move(across + side, from).line(across + other, to);
    }
  };
  const double start = axis.pixel_within(low), end = axis.pixel_within(high);
  stroke(start, end, 0, 0);
  if (low >= axis.range.low) stroke(start, start, -form.cap, form.cap);
  if (high <= axis.range.high) stroke(end, end, -form.cap, form.cap);
  svg.path(path, form.classes);
}

std::string chart_interval_text(const ChartInterval& interval) {
  return fmt::format("[{}, {}]", chart_number(interval.low), chart_number(interval.high));
}

std::string chart_value_text(double value, const ChartInterval& interval) {
  const bool known = !std::isnan(interval.low) && !std::isnan(interval.high);
  return known ? chart_number(value) + " " + chart_interval_text(interval) : chart_number(value);
}

std::string omission_note(std::size_t count) {
  if (count == 0) return "";
  return fmt::format("Not drawn: {} {} not finite.", count,
                     count == 1 ? "value that is" : "values that are");
}

std::string chart_without_data(const ChartText& text) {
  constexpr double kHeight = 120;
  SvgWriter svg(text, kChartWidth, kHeight);
  draw_label(svg, kChartWidth / 2, kHeight / 2, "no data",
             {.anchor = TextAnchor::Middle, .muted = true});
  return svg.finish();
}

}  // namespace depthgrid
