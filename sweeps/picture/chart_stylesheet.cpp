#include "sweeps/picture/chart_stylesheet.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/picture/chart_colours.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kFrameRules = R"(.chart-frame{overflow-x:auto}
.chart{display:block;width:100%;min-width:540px;max-width:780px;height:auto;
background:var(--chart-background);font-family:system-ui,sans-serif;
font-variant-numeric:tabular-nums}
)";

constexpr std::string_view kChartRules =
    R"(.chart text{color:var(--chart-text);fill:var(--chart-text)}
.chart .tick,.chart .muted{fill:var(--chart-muted)}
.chart .axis{stroke:var(--chart-axis);stroke-width:1}
.chart .grid{stroke:var(--chart-grid);stroke-width:1}
.chart .zero{stroke:var(--chart-zero);stroke-width:1.5}
.chart .band{fill:currentColor;fill-opacity:.16}
.chart .margin{fill:var(--chart-muted);fill-opacity:.16}
.chart .point,.chart .mean{fill:currentColor;stroke:var(--chart-background);stroke-width:.75}
.chart .dots{fill:none;stroke:currentColor;stroke-width:6.4;stroke-linecap:round}
.chart .bar{fill:currentColor}
.chart .interval{fill:none;stroke:currentColor;stroke-width:2.5}
.chart .over{stroke:var(--chart-text);stroke-width:1.5}
.chart .simultaneous{fill:none;stroke:currentColor;stroke-width:1}
.chart .curve,.chart .sample{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.chart .leader{fill:none;stroke:currentColor;stroke-width:1;stroke-dasharray:3 2}
.chart .front{fill:none;stroke:var(--chart-muted);stroke-width:1.5;stroke-dasharray:6 3}
.chart .cell{fill:currentColor;stroke:var(--chart-background);stroke-width:.5}
.chart .dense{stroke:none;shape-rendering:crispEdges}
.chart .key{fill:currentColor}
.chart .missing .cell{fill:var(--chart-background)}
.chart .hatch{fill:none;stroke:var(--chart-axis);stroke-width:1;stroke-opacity:.5}
.chart .hit{fill:none;pointer-events:all}
)";

// In print, browsers leave out what they take for backgrounds unless asked otherwise; a chart is
// not cut at the end of a page.
constexpr std::string_view kPrintRules = R"(@media print{
.chart-frame{overflow:visible}
.chart{min-width:0;max-width:100%;break-inside:avoid;print-color-adjust:exact;
-webkit-print-color-adjust:exact}
}
)";

std::string scale_variables(std::string_view name, const std::array<std::string_view, 10>& scale) {
  std::string out;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    out += fmt::format("--chart-{}{}:{};--chart-{}{}-ink:{};\n", name, i, scale[i], name, i,
                       ink_on(scale[i]));
  }
  return out;
}

std::string theme_variables(const ChartColours& colours) {
  std::string out = fmt::format(
      "--chart-background:{};--chart-text:{};--chart-muted:{};\n"
      "--chart-axis:{};--chart-grid:{};--chart-zero:{};\n",
      colours.background, colours.text, colours.muted, colours.axis, colours.grid, colours.zero);
  for (std::size_t i = 0; i < colours.series.size(); ++i)
    out += fmt::format("--chart-s{}:{};\n", i, colours.series[i]);
  return out + scale_variables("sequential", colours.sequential) +
         scale_variables("diverging", colours.diverging);
}

std::string series_rules() {
  std::string out;
  for (std::size_t i = 0; i < light_chart_colours().series.size(); ++i)
    out += fmt::format(".chart .s{}{{color:var(--chart-s{})}}\n", i, i);
  return out;
}

std::string scale_rules(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < light_chart_colours().sequential.size(); ++i) {
    out += fmt::format(
        ".chart .{} .h{}{{color:var(--chart-{}{})}}\n"
        ".chart .{} .h{} text{{fill:var(--chart-{}{}-ink)}}\n",
        name, i, name, i, name, i, name, i);
  }
  return out;
}

/// What a page and a file of its own have in common.
std::string mark_rules() {
  return std::string(kChartRules) +
         fmt::format(
             ".chart .label{{font-size:{}px}}\n.chart .tick{{font-size:{}px}}\n"
             ".chart .small{{font-size:{}px}}\n",
             kLabelFont, kTickFont, kSmallFont) +
         series_rules() + scale_rules("sequential") + scale_rules("diverging");
}

/// The value of a variable among "--name:value;" declarations.
std::string_view value_of(std::string_view variables, std::string_view name) {
  const std::string sought = std::string(name) + ":";
  const std::size_t at = variables.find(sought);
  if (at == variables.npos) throw Error(fmt::format("no colour {}", name));
  const std::string_view rest = variables.substr(at + sought.size());
  return rest.substr(0, rest.find(';'));
}

}  // namespace

std::string paper_stylesheet() {
  const std::string variables = theme_variables(light_chart_colours());
  const std::string rules =
      ".chart{font-family:Helvetica,Arial,sans-serif;font-variant-numeric:tabular-nums}\n" +
      mark_rules();
  constexpr std::string_view kVariable = "var(";
  std::string out;
  for (std::size_t at = 0; at < rules.size();) {
    const std::size_t next = rules.find(kVariable, at);
    out += rules.substr(at, next - at);
    if (next == rules.npos) break;
    const std::size_t name = next + kVariable.size(), end = rules.find(')', name);
    out += value_of(variables, std::string_view(rules).substr(name, end - name));
    at = end + 1;
  }
  return out;
}

std::string svg_file(std::string_view chart) {
  constexpr std::string_view kBegin = "<svg ", kBox = "viewBox=\"0 0 ";
  const std::size_t end = chart.find('>'), box = chart.find(kBox);
  if (!chart.starts_with(kBegin) || end == chart.npos || box == chart.npos || box > end) {
    throw Error("a picture for a file does not begin with its <svg>");
  }
  const std::string_view sizes = chart.substr(box + kBox.size());
  const std::size_t blank = sizes.find(' ');
  const std::string_view width = sizes.substr(0, blank);
  const std::string_view height = sizes.substr(blank + 1, sizes.find('"') - blank - 1);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" {2}>\n"
      "<style>{3}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"{4}\"/>{5}",
      width, height, chart.substr(kBegin.size(), end - kBegin.size()), paper_stylesheet(),
      light_chart_colours().background, chart.substr(end + 1));
}

std::string chart_stylesheet() {
  const std::string dark = theme_variables(dark_chart_colours());
  return fmt::format(
             ":root{{\n{}}}\n"
             "@media screen and "
             "(prefers-color-scheme:dark){{:root:not([data-theme=light]){{\n{}}}}}"
             "\n@media screen{{:root[data-theme=dark]{{\n{}}}}}\n",
             theme_variables(light_chart_colours()), dark, dark) +
         std::string(kFrameRules) + mark_rules() + std::string(kPrintRules);
}

}  // namespace depthgrid
