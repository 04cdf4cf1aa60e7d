#pragma once

#include <array>
#include <string_view>

namespace depthgrid {

// Colours of charts, "#rrggbb". Against the background of their theme: marks, series and axes have
// a contrast of 3 : 1 or more, texts 4.5 : 1 (WCAG 2.2, 1.4.11 and 1.4.3); lines of the grid are
// decoration and have less.

struct ChartColours {
  std::string_view background, text, muted, axis, grid, zero;
  std::array<std::string_view, 8> series;       // s0 …
  std::array<std::string_view, 10> sequential;  // h0 …: from nearest to the background to farthest
  std::array<std::string_view, 10> diverging;   // h0 …: blue, towards the background, orange
};

/// Series: the eight hues of Okabe & Ito, Color Universal Design (2008), darkened on white and
/// lightened on black until their contrast suffices. Scales: even steps of lightness in OKLCH
/// (Ottosson, A perceptual color space for image processing, 2020).
const ChartColours& light_chart_colours() noexcept;
const ChartColours& dark_chart_colours() noexcept;

/// Ratio of the luminances, 1 to 21, in any order. Source: WCAG 2.2, definition of contrast ratio.
/// @throws Error unless both are "#rrggbb".
double colour_contrast(std::string_view a, std::string_view b);

/// Black or white, whichever is read better on it: at least 4.58 : 1 on every colour.
std::string_view ink_on(std::string_view colour);

}  // namespace depthgrid
