#include "sweeps/picture/axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {
namespace {

constexpr double kLargestDrawn = 1e300, kSmallestSpan = 1e-280;
constexpr double kEqualValues = 1e-12;  // a span of less than this part of the values is rounding
constexpr double kLeastPlain = 1e-3, kLeastLarge = 1e6;  // between them labels have no exponent

void require_range(const AxisRange& range, AxisScale scale) {
  const bool good = std::abs(range.low) <= 2 * kLargestDrawn &&
                    std::abs(range.high) <= 2 * kLargestDrawn && range.low < range.high &&
                    (scale == AxisScale::Linear || range.low > 0);
  if (!good) throw Error(fmt::format("no axis goes from {} to {}", range.low, range.high));
}

/// n · 10^exponent, rounded once: 3 · 10^-1 is 0.3, 3 · 0.1 is not.
double decimal_value(std::int64_t n, int exponent) {
  const auto number = static_cast<double>(n);
  return exponent < 0 ? number / std::pow(10.0, -exponent) : number * std::pow(10.0, exponent);
}

/// A number as n · 10^exponent.
struct DecimalTick {
  std::int64_t n = 0;
  int exponent = 0;
};

/// Multiples of a step that lie in a range. The slack keeps a limit that is a multiple but for
/// its rounding.
std::vector<DecimalTick> multiples_in(const AxisRange& range, std::int64_t multiple, int exponent,
                                      std::size_t most) {
  const double step = decimal_value(multiple, exponent);
  const double low = range.low / step, high = range.high / step;
  const double slack = std::max(1e-9, 4e-16 * std::max(std::abs(low), std::abs(high)));
  const auto first = static_cast<std::int64_t>(std::ceil(low - slack));
  const auto last = static_cast<std::int64_t>(std::floor(high + slack));
  std::vector<DecimalTick> out;  // one more than `most` says that there are too many
  for (std::int64_t i = first; i <= last && out.size() <= most; ++i)
    out.push_back({.n = i * multiple, .exponent = exponent});
  return out;
}

/// Of the steps 1, 2, 5, 10, … the finest whose ticks are few enough, unless it leaves fewer than
/// two.
std::vector<DecimalTick> linear_tick_values(const AxisRange& range, std::size_t most) {
  const double span = std::max(range.high - range.low, kSmallestSpan);
  auto exponent = static_cast<int>(std::floor(std::log10(span / static_cast<double>(most))));
  std::vector<DecimalTick> finer;
  for (;; ++exponent) {
    for (const std::int64_t multiple : {1, 2, 5}) {
      std::vector<DecimalTick> ticks = multiples_in(range, multiple, exponent, most + 8);
      if (ticks.size() <= most) return ticks.size() >= 2 || finer.empty() ? ticks : finer;
      finer = std::move(ticks);
    }
  }
}

/// Digits of |n| without trailing zeros.
std::size_t mantissa_digits(std::int64_t n) {
  const std::string digits = std::to_string(std::abs(n));
  return digits.find_last_not_of('0') + 1;
}

std::string exponent_label(const DecimalTick& tick, std::size_t decimals) {
  if (tick.n == 0) return "0";
  std::string digits = std::to_string(std::abs(tick.n));
  const int exponent = tick.exponent + static_cast<int>(digits.size()) - 1;
  digits.resize(1 + decimals, '0');
  if (decimals > 0) digits.insert(1, ".");
  return fmt::format("{}{}e{}", tick.n < 0 ? "-" : "", digits, exponent);
}

std::vector<AxisTick> linear_labels(const std::vector<DecimalTick>& values) {
  double largest = 0;
  std::size_t digits = 1;
  for (const DecimalTick& tick : values) {
    largest = std::max(largest, std::abs(decimal_value(tick.n, tick.exponent)));
    digits = std::max(digits, mantissa_digits(tick.n));
  }
  // Of large numbers that differ in late digits, 1000001 is shorter than 1.000001e6.
  const bool large = largest >= kLeastLarge && (digits <= 5 || largest >= 1e15);
  const bool with_exponent = large || (largest > 0 && largest < kLeastPlain);
  std::vector<AxisTick> out;
  for (const DecimalTick& tick : values) {
    const double value = decimal_value(tick.n, tick.exponent);
    out.push_back({.value = value,
                   .label = with_exponent
                                ? exponent_label(tick, digits - 1)
                                : fmt::format("{:.{}f}", value, std::max(0, -tick.exponent))});
  }
  return out;
}

std::vector<AxisTick> log_ticks(const AxisRange& range, std::size_t most) {
  const auto first = static_cast<int>(std::floor(std::log10(range.low)));
  const auto last = static_cast<int>(std::ceil(std::log10(range.high)));
  std::vector<DecimalTick> powers, between;
  for (int k = first; k <= last; ++k) {
    for (const std::int64_t n : {1, 2, 5}) {
      const double value = decimal_value(n, k);
      if (value < range.low * (1 - kEqualValues) || value > range.high * (1 + kEqualValues))
        continue;
      if (n == 1) powers.push_back({.n = n, .exponent = k});
      between.push_back({.n = n, .exponent = k});
    }
  }
  const bool few = between.size() <= most;
  const std::vector<DecimalTick>& chosen = few || powers.size() < 2 ? between : powers;
  if (chosen.size() < 2) return linear_labels(linear_tick_values(range, most));
  const std::size_t stride = (chosen.size() + most - 1) / most;
  std::vector<AxisTick> out;
  const bool plain = chosen.front().exponent >= -3 && chosen.back().exponent <= 4;
  for (std::size_t i = 0; i < chosen.size(); i += stride) {
    const auto [n, k] = chosen[i];
    const double value = decimal_value(n, k);
    out.push_back({.value = value,
                   .label = plain ? fmt::format("{:.{}f}", value, std::max(0, -k))
                                  : fmt::format("{}e{}", n, k)});
  }
  return out;
}

}  // namespace

bool can_be_drawn(double value, AxisScale scale) noexcept {
  if (!(std::abs(value) <= kLargestDrawn)) return false;
  return scale == AxisScale::Linear || value >= 1 / kLargestDrawn;
}

AxisRange padded_range(std::span<const double> values, AxisScale scale, std::string_view name,
                       double padding) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (scale == AxisScale::Log && value <= 0) {
      throw Error(
          fmt::format("log axis '{}': {} is not above 0", chart_line(name), chart_number(value)));
    }
    if (!can_be_drawn(value, scale)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return scale == AxisScale::Log ? AxisRange{1, 10} : AxisRange{0, 1};
  const double size = std::max(std::abs(low), std::abs(high));
  const bool equal = high - low <= kEqualValues * size;
  if (scale == AxisScale::Log) {
    if (equal) return {.low = low / 2, .high = high * 2};
    const double factor = std::pow(10.0, padding * (std::log10(high) - std::log10(low)));
    return {.low = low / factor, .high = high * factor};
  }
  if (equal || high - low < kSmallestSpan) {
    const double half = size < kSmallestSpan ? 1 : size / 20;
    return {.low = low - half, .high = high + half};
  }
  const double margin = padding * (high - low);
  return {.low = low - margin, .high = high + margin};
}

std::vector<AxisTick> nice_ticks(const AxisRange& range, AxisScale scale, std::size_t most) {
  require_range(range, scale);
  if (most < 3) throw Error("an axis has at least three ticks");
  if (scale == AxisScale::Log) return log_ticks(range, most);
  return linear_labels(linear_tick_values(range, most));
}

double ChartAxis::pixel(double value) const {
  const auto place = [this](double x) { return scale == AxisScale::Log ? std::log10(x) : x; };
  const double low = place(range.low);
  const double part = (place(value) - low) / (place(range.high) - low);
  return first + part * (last - first);
}

double ChartAxis::pixel_within(double value) const {
  if (value <= range.low) return first;
  return value >= range.high ? last : pixel(value);
}

ChartAxis chart_axis(const AxisRange& range, AxisScale scale, double first, double last,
                     double spacing) {
  const double fitting = std::clamp(std::abs(last - first) / spacing, 3.0, 8.0);
  return {.scale = scale,
          .range = range,
          .first = first,
          .last = last,
          .ticks = nice_ticks(range, scale, static_cast<std::size_t>(fitting))};
}

}  // namespace depthgrid
