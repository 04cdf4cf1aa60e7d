#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sweeps/picture/svg.hpp"

namespace depthgrid {

// How series are distinguished: by a colour (class s0 … s7), and, as colour alone says nothing in
// print or to one reader in twelve, by a pattern of dashes and the shape of a mark.

enum class MarkerShape : std::uint8_t {
  Circle,
  Square,
  Diamond,
  TriangleUp,
  TriangleDown,
  Plus,
  Cross,
  Bar
};

/// "s0" to "s7", then from the beginning.
std::string series_class(std::size_t series);

/// Value of stroke-dasharray, empty for an unbroken line. After eight series the patterns shift
/// by one, so that no two of the first 64 share both colour and pattern.
std::string_view series_dashes(std::size_t series) noexcept;

/// The shapes in the order of their enumeration, shifted likewise.
MarkerShape series_marker(std::size_t series) noexcept;

/// Number of the colour of a shape: a mark with a meaning (a verdict) has one colour.
std::size_t series_of(MarkerShape marker) noexcept;

/// One element. All shapes cover about the same area as a circle of this radius.
void draw_marker(SvgWriter& svg, MarkerShape marker, double x, double y, double radius,
                 std::string_view classes);

}  // namespace depthgrid
