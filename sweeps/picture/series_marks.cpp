#include "sweeps/picture/series_marks.hpp"

#include <array>
#include <initializer_list>

#include <fmt/format.h>

namespace depthgrid {
namespace {

constexpr std::size_t kSeriesStyles = 8;

constexpr std::array<std::string_view, kSeriesStyles> kDashes = {
    "", "8 4", "2 3", "10 3 2 3", "16 4", "5 5", "10 3 2 3 2 3", "1 5"};

std::size_t shifted_style(std::size_t series) {
  return (series + series / kSeriesStyles) % kSeriesStyles;
}

struct MarkerCorner {
  double x, y;
};

/// In units of the radius of the circle.
SvgPath marker_outline(std::initializer_list<MarkerCorner> corners, double x, double y,
                       double radius) {
  SvgPath out;
  for (const MarkerCorner& corner : corners) {
    const double px = x + radius * corner.x, py = y + radius * corner.y;
    out.data().empty() ? out.move(px, py) : out.line(px, py);
  }
  return out.close();
}

SvgPath marker_path(MarkerShape marker, double x, double y, double radius) {
  const auto outline = [&](std::initializer_list<MarkerCorner> corners) {
    return marker_outline(corners, x, y, radius);
  };
  constexpr double kSquare = 0.9, kDiamond = 1.3, kUp = 1.25, kBase = 0.75, kSide = 1.2;
  constexpr double kLong = 1.25, kThin = 0.4, kIn = 0.55;
  switch (marker) {
    case MarkerShape::Diamond:
      return outline({{0, -kDiamond}, {kDiamond, 0}, {0, kDiamond}, {-kDiamond, 0}});
    case MarkerShape::TriangleUp:
      return outline({{0, -kUp}, {kSide, kBase}, {-kSide, kBase}});
    case MarkerShape::TriangleDown:
      return outline({{0, kUp}, {kSide, -kBase}, {-kSide, -kBase}});
    case MarkerShape::Plus:
      return outline({{-kThin, -kLong},
                      {kThin, -kLong},
                      {kThin, -kThin},
                      {kLong, -kThin},
                      {kLong, kThin},
                      {kThin, kThin},
                      {kThin, kLong},
                      {-kThin, kLong},
                      {-kThin, kThin},
                      {-kLong, kThin},
                      {-kLong, -kThin},
                      {-kThin, -kThin}});
    case MarkerShape::Cross:
      return outline({{-1.2, -0.65},
                      {-0.65, -1.2},
                      {0, -kIn},
                      {0.65, -1.2},
                      {1.2, -0.65},
                      {kIn, 0},
                      {1.2, 0.65},
                      {0.65, 1.2},
                      {0, kIn},
                      {-0.65, 1.2},
                      {-1.2, 0.65},
                      {-kIn, 0}});
    case MarkerShape::Bar:
      return outline({{-kThin, -1.6}, {kThin, -1.6}, {kThin, 1.6}, {-kThin, 1.6}});
    case MarkerShape::Circle:
    case MarkerShape::Square:
      break;
  }
  return outline(
      {{-kSquare, -kSquare}, {kSquare, -kSquare}, {kSquare, kSquare}, {-kSquare, kSquare}});
}

}  // namespace

std::string series_class(std::size_t series) {
  return fmt::format("s{}", series % kSeriesStyles);
}

std::string_view series_dashes(std::size_t series) noexcept {
  return kDashes.at(shifted_style(series));
}

MarkerShape series_marker(std::size_t series) noexcept {
  return static_cast<MarkerShape>(shifted_style(series));
}

std::size_t series_of(MarkerShape marker) noexcept {
  return static_cast<std::size_t>(marker);
}

void draw_marker(SvgWriter& svg, MarkerShape marker, double x, double y, double radius,
                 std::string_view classes) {
  if (marker == MarkerShape::Circle) {
    svg.leaf("circle", {{"class", classes}, {"cx", x}, {"cy", y}, {"r", radius}});
    return;
  }
  svg.path(marker_path(marker, x, y, radius), classes);
}

}  // namespace depthgrid
