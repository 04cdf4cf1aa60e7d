#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/nan.hpp"

namespace depthgrid {

// From values to pixels: the range of an axis, its ticks and where a value lies. Pure functions;
// pixels are units of the viewBox.
//
// NaN, ±∞ and sizes beyond 1e300 cannot be drawn and do not count in a range. On a log axis a value
// ≤ 0 is an error that names the axis: leaving it out in silence would hide a step 0 or a loss
// below 0.

enum class AxisScale : std::uint8_t { Linear, Log };

/// Limits of an axis in the unit of its values: finite, low < high, on a log axis low > 0.
struct AxisRange {
  double low = 0, high = 1;
};

/// Limits of an interval in the unit of its axis. NaN: not known, so not drawn; ±∞: the line runs
/// to the edge of the plot.
struct ChartInterval {
  double low = kNaN, high = kNaN;
};

struct AxisTick {
  double value = 0;
  std::string label;
};

/// Whether a mark can have this coordinate.
bool can_be_drawn(double value, AxisScale scale) noexcept;

/// The range of what can be drawn, widened on both sides by `padding` of its span (of its
/// logarithms on a log axis). Equal values v (to 1e-12): v ± 5 %, 0 ± 1; log: v / 2 to 2 v. No
/// values: 0 to 1; log: 1 to 10.
/// @param name  of the axis, for the error. @throws Error if a value of a log axis is ≤ 0.
AxisRange padded_range(std::span<const double> values, AxisScale scale, std::string_view name,
                       double padding = 0.05);

/// At most `most` ticks; where that leaves fewer than two, those of the next finer step.
///
/// Linear: multiples of 1, 2 or 5 times a power of ten, the finest that are few enough; labels with
/// the decimals of that step, or as 1.5e-4 with equally many decimals if the largest is below 1e-3
/// or from 1e6. Log: powers of ten, with 2 and 5 between them where those are few enough, every
/// second (third, …) power if even they are too many, linear ticks if fewer than two remain; labels
/// all plain (0.001 to 50000) or all as 2e-4.
/// @param most  ≥ 3. @throws Error for a range that is none.
/// Source: Heckbert, Nice numbers for graph labels, Graphics Gems (1990).
std::vector<AxisTick> nice_ticks(const AxisRange& range, AxisScale scale, std::size_t most = 8);

/// An axis as it is drawn: `first` is the pixel of range.low, `last` that of range.high (less than
/// `first` for an axis that goes up).
struct ChartAxis {
  AxisScale scale = AxisScale::Linear;
  AxisRange range = {};
  double first = 0, last = 1;
  std::vector<AxisTick> ticks = {};

  /// @param value  that can be drawn; outside the range it is outside the plot.
  double pixel(double value) const;
  /// The same within the plot; ±∞ are its ends, which on a log axis is what ≤ 0 is, too.
  double pixel_within(double value) const;
};

/// With one tick in every `spacing` pixels, 3 to 8 of them.
ChartAxis chart_axis(const AxisRange& range, AxisScale scale, double first, double last,
                     double spacing);

}  // namespace depthgrid
