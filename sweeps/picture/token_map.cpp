#include "sweeps/picture/token_map.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "sweeps/picture/plot_frame.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kTokenRow = 15, kTokenMark = 9;            // of a layer: its row, its block
constexpr double kNumberRow = 16, kTokenTextRow = 18;       // above the layers
constexpr double kTokenLineGap = 12, kTokenKeyHeight = 34;  // below a line of text; of the key
constexpr double kLeastToken = 9, kMostToken = 110;         // width of a column
constexpr double kMapMargin = 12, kMostLayerLabel = 110;
constexpr std::size_t kNumbered = 10;  // every so many positions have their number

/// Where a token stands.
struct TokenPlace {
  double x = 0, width = 0;
  std::size_t line = 0;
};

struct TokenLayout {
  double left = 0;  // of the first column
  double top = 0;   // of the layers, within a line of text
  double line_height = 0;
  std::size_t lines = 1;
  std::vector<TokenPlace> places;

  double row_middle(std::size_t line, std::size_t layer) const {
    return static_cast<double>(line) * line_height + top +
           kTokenRow * (static_cast<double>(layer) + 0.5);
  }
};

std::string shown_token(const std::string& token) {
  const bool blank = !token.empty() && token.find_first_not_of(" \t\n\r\f\v") == token.npos;
  return blank ? "␣" : token;
}

TokenLayout token_layout(const TokenMapData& data) {
  TokenLayout out;
  double labels = 0;
  for (const std::string& layer : data.layers)
    labels = std::max(labels, chart_text_width(chart_line(layer), kSmallFont));
  out.left = kMapMargin + std::min(labels, kMostLayerLabel) + 8;
  out.top = kNumberRow + (data.tokens.empty() ? 0 : kTokenTextRow);
  out.line_height = out.top + kTokenRow * static_cast<double>(data.layers.size()) + kTokenLineGap;
  const double right = kChartWidth - kMapMargin;
  double x = out.left;
  for (std::size_t p = 0; p < data.positions; ++p) {
    double width = kLeastToken;
    if (!data.tokens.empty()) {
      const double text = chart_text_width(chart_line(shown_token(data.tokens[p])), kSmallFont);
      width = std::max(width, std::min(text + 4, kMostToken));
    }
    if (x + width > right) {
      x = out.left;
      ++out.lines;
    }
    out.places.push_back({x, width, out.lines - 1});
    x += width;
  }
  return out;
}

void draw_layer_row(SvgWriter& svg, const TokenMapData& data, const TokenLayout& layout,
                    std::size_t line, std::size_t layer) {
  const double y = layout.row_middle(line, layer);
  draw_label(svg, layout.left - 8, y, data.layers[layer],
             {.kind = TextKind::Small, .anchor = TextAnchor::End, .space = kMostLayerLabel});
  SvgPath blocks, skipped;
  for (std::size_t p = 0; p < data.positions; ++p) {
    const TokenPlace& at = layout.places[p];
    if (at.line != line) continue;
    const double end = at.x + at.width;
    if (data.executed[layer * data.positions + p] == 0) {
      skipped.move(at.x, y).line(end, y);
      continue;
    }
    const double top = y - kTokenMark / 2, bottom = y + kTokenMark / 2;
    blocks.move(at.x, top).line(end - 1, top).line(end - 1, bottom).line(at.x, bottom).close();
  }
  if (!skipped.data().empty()) svg.path(skipped, "axis");
  if (!blocks.data().empty()) svg.path(blocks, "bar");
}

/// "position 17, 'the': executed by layer 2, layer 4".
std::string token_tooltip(const TokenMapData& data, std::size_t position) {
  std::vector<std::string> by;
  for (std::size_t layer = 0; layer < data.layers.size(); ++layer) {
    if (data.executed[layer * data.positions + position] != 0) by.push_back(data.layers[layer]);
  }
  const std::string token = data.tokens.empty() ? "" : fmt::format(", '{}'", data.tokens[position]);
  return fmt::format(
      "position {}{}: {}", position, token,
      by.empty() ? "skipped by all" : fmt::format("executed by {}", fmt::join(by, ", ")));
}

void draw_token_texts(SvgWriter& svg, const TokenMapData& data, const TokenLayout& layout) {
  double taken = 0;
  for (std::size_t p = 0; p < data.positions; ++p) {
    const TokenPlace& at = layout.places[p];
    const double top = static_cast<double>(at.line) * layout.line_height;
    if (p == 0 || layout.places[p - 1].line != at.line) taken = 0;
    const std::string number = std::to_string(p);
    const double end = at.x + chart_text_width(number, kSmallFont);
    if (p % kNumbered == 0 && at.x > taken && end < kChartWidth) {
      draw_label(svg, at.x, top + kNumberRow / 2, number, {.kind = TextKind::Small, .muted = true});
      taken = end + 4;
    }
    if (data.tokens.empty()) continue;
    draw_label(svg, at.x, top + kNumberRow + kTokenTextRow / 2, shown_token(data.tokens[p]),
               {.kind = TextKind::Small, .space = kMostToken - 4});
  }
}

void draw_token_key(SvgWriter& svg, double x, double y) {
  constexpr double kSample = 24;
  svg.rect(x, y - kTokenMark / 2, kSample, kTokenMark, "bar");
  draw_label(svg, x + kSample + 8, y, "executed", {.kind = TextKind::Small});
  svg.line(x + 120, y, x + 120 + kSample, y, "axis");
  draw_label(svg, x + 120 + kSample + 8, y, "skipped", {.kind = TextKind::Small});
}

}  // namespace

std::string token_map(const TokenMapData& data, const ChartText& text) {
  const bool named = data.tokens.empty() || data.tokens.size() == data.positions;
  if (data.executed.size() != data.layers.size() * data.positions || !named) {
    throw Error(fmt::format("a token map of {} layers and {} positions has {} marks and {} tokens",
                            data.layers.size(), data.positions, data.executed.size(),
                            data.tokens.size()));
  }
  if (data.executed.empty()) return chart_without_data(text);
  const TokenLayout layout = token_layout(data);
  const double bottom = layout.line_height * static_cast<double>(layout.lines);
  SvgWriter svg(text, kChartWidth, bottom + kTokenKeyHeight);
  draw_token_texts(svg, data, layout);
  svg.open("g", {{"class", series_class(0)}});
  for (std::size_t line = 0; line < layout.lines; ++line) {
    for (std::size_t layer = 0; layer < data.layers.size(); ++layer)
      draw_layer_row(svg, data, layout, line, layer);
  }
  draw_token_key(svg, layout.left, bottom + kTokenKeyHeight / 2);
  svg.close();
  for (std::size_t p = 0; p < data.positions; ++p) {
    const TokenPlace& at = layout.places[p];
    svg.open("g");
    svg.tooltip(token_tooltip(data, p));
    svg.rect(at.x, static_cast<double>(at.line) * layout.line_height, at.width,
             layout.line_height - kTokenLineGap, "hit");
    svg.close();
  }
  return svg.finish();
}

}  // namespace depthgrid
