#include "sweeps/picture/chart_colours.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr ChartColours kLightColours = {
    .background = "#ffffff",
    .text = "#1f2328",
    .muted = "#5a626b",
    .axis = "#6b737c",
    .grid = "#e2e5e9",
    .zero = "#3d4248",
    .series = {"#0072b2", "#d55e00", "#009e73", "#b8608f", "#a87400", "#2b8cc4", "#857d00",
               "#3d4248"},
    .sequential = {"#f9f6b9", "#bfe8a1", "#7bd899", "#03c59d", "#01a79f", "#008b97", "#01718a",
                   "#00577c", "#003d71", "#0e235c"},
    .diverging = {"#005a9e", "#2d7bc3", "#669dd6", "#99c0e8", "#cee2f7", "#f4d9cb", "#e2af93",
                  "#cc855d", "#b55c20", "#8d3e00"},
};

constexpr ChartColours kDarkColours = {
    .background = "#15181c",
    .text = "#e6e8eb",
    .muted = "#a3abb4",
    .axis = "#8a929b",
    .grid = "#2b3037",
    .zero = "#c9ced4",
    .series = {"#3d9bdb", "#ec7a2d", "#1fb88a", "#d68bb4", "#e69f00", "#7cc8f0", "#d9cf3f",
               "#c9ced4"},
    .sequential = {"#0e235c", "#003d71", "#00577c", "#01718a", "#008b97", "#01a79f", "#03c59d",
                   "#7bd899", "#bfe8a1", "#f9f6b9"},
    .diverging = {"#89c3ff", "#53a0eb", "#467db4", "#3a5d80", "#2e3e4e", "#4c372b", "#7a4e35",
                  "#aa663e", "#dc8048", "#ffa471"},
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// 0 for black to 1 for white.
double relative_luminance(std::string_view colour) {
  constexpr std::array<double, 3> kShare = {0.2126, 0.7152, 0.0722};
  double out = 0;
  for (std::size_t i = 0; i < kShare.size(); ++i) {
    const bool whole = colour.size() == 7 && colour.front() == '#';
    const int high = whole ? hex_digit(colour[1 + 2 * i]) : -1;
    const int low = whole ? hex_digit(colour[2 + 2 * i]) : -1;
    if (high < 0 || low < 0) throw Error(fmt::format("'{}' is no colour like #0072b2", colour));
    const double part = (16 * high + low) / 255.0;
    out += kShare.at(i) * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return out;
}

}  // namespace

const ChartColours& light_chart_colours() noexcept {
  return kLightColours;
}

const ChartColours& dark_chart_colours() noexcept {
  return kDarkColours;
}

double colour_contrast(std::string_view a, std::string_view b) {
  const double first = relative_luminance(a), second = relative_luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

std::string_view ink_on(std::string_view colour) {
  return colour_contrast(colour, "#000000") >= colour_contrast(colour, "#ffffff") ? "#000000"
                                                                                  : "#ffffff";
}

}  // namespace depthgrid
