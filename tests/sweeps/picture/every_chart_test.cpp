#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "sweeps/picture/band_plot.hpp"
#include "sweeps/picture/bar_spectrum.hpp"
#include "sweeps/picture/chart_stylesheet.hpp"
#include "sweeps/picture/heat_map.hpp"
#include "sweeps/picture/interaction_plot.hpp"
#include "sweeps/picture/interval_plot.hpp"
#include "sweeps/picture/mean_plot.hpp"
#include "sweeps/picture/scatter_plot.hpp"
#include "sweeps/picture/small_multiples.hpp"
#include "sweeps/picture/token_map.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace every_chart_test {

/// A kind of chart with nothing in it, and filled with a label and values (their number 1 to 6).
struct ChartCase {
  std::string name;
  std::function<std::string(const ChartText&)> empty;
  std::function<std::string(const ChartText&, const std::string&, const std::vector<double>&)>
      filled;
};

BandCurve curve_of(const std::string& label, const std::vector<double>& values) {
  BandCurve out;
  out.label = label;
  out.mean = values;
  for (std::size_t i = 0; i < values.size(); ++i) out.x.push_back(static_cast<double>(i));
  out.low = out.high = values;
  return out;
}

std::vector<ChartCase> chart_cases() {
  using Values = const std::vector<double>&;
  using Label = const std::string&;
  const double half = 0.5;
  return {
      {"interval_plot", [](const ChartText& t) { return interval_plot({}, t); },
       [=](const ChartText& t, Label label, Values values) {
         IntervalPlotData data;
         for (const double v : values)
           data.rows.push_back({label, v, {v - half, v + half}, {v - 1, v + 1}, label});
         return interval_plot(data, t);
       }},
      {"mean_plot", [](const ChartText& t) { return mean_plot({}, t); },
       [=](const ChartText& t, Label label, Values values) {
         return mean_plot({.rows = {{label, values, values[0], {values[0], values[0]}}}}, t);
       }},
      {"heat_map", [](const ChartText& t) { return heat_map({}, t); },
       [=](const ChartText& t, Label label, Values values) {
         HeatMapData data;
         data.rows = {label};
         data.columns.assign(values.size(), label);
         data.values = values;
         data.value_label = label;
         return heat_map(data, t);
       }},
      {"band_plot", [](const ChartText& t) { return band_plot({}, t); },
       [=](const ChartText& t, Label label, Values values) {
         return band_plot({.curves = {curve_of(label, values)}}, t);
       }},
      {"scatter_plot", [](const ChartText& t) { return scatter_plot({}, t); },
       [=](const ChartText& t, Label label, Values values) {
         ScatterPlotData data;
         data.front = true;
         for (const double v : values) data.points.push_back({label, v, v, 0});
         return scatter_plot(data, t);
       }},
      {"interaction_plot", [](const ChartText& t) { return interaction_plot({}, t); },
       [=](const ChartText& t, Label label, Values values) {
         InteractionPlotData data;
         data.a_levels = {label};
         data.b_levels.assign(values.size(), label);
         data.means = values;
         return interaction_plot(data, t);
       }},
      {"bar_spectrum", [](const ChartText& t) { return bar_spectrum({}, t); },
       [=](const ChartText& t, Label, Values values) {
         return bar_spectrum({.values = values, .intervals = {}}, t);
       }},
      {"small_multiples", [](const ChartText& t) { return small_multiples({}, t); },
       [=](const ChartText& t, Label label, Values values) {
         SmallMultiplesData data;
         data.panels.assign(2, {label, {curve_of(label, values)}});
         return small_multiples(data, t);
       }},
      {"token_map", [](const ChartText& t) { return token_map({}, t); },
       [](const ChartText& t, Label label, Values values) {
         TokenMapData data;
         data.layers = {label};
         data.positions = values.size();
         for (const double v : values) data.executed.push_back(v > 1 ? 1 : 0);
         data.tokens.assign(values.size(), label);
         return token_map(data, t);
       }},
  };
}

TEST(EveryChart, WithoutDataSaysSo) {
  for (const ChartCase& one : chart_cases()) {
    const CheckedSvg svg = checked_svg(one.empty(some_chart_text()));
    EXPECT_EQ(svg.fault, "") << one.name;
    EXPECT_NE(svg.content.find("no data"), std::string::npos) << one.name;
  }
}

TEST(EveryChart, IsWellFormedForAnyNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> samples = {{1},
                                                    {0},
                                                    {2, 2, 2},
                                                    {1, kNaN, 3},
                                                    {kNaN, 1, kNaN},
                                                    {1, infinity, -infinity},
                                                    {-1e-12, 1e9},
                                                    {1e299, -1e299},
                                                    {1e-299, 0},
                                                    {-5, -4},
                                                    {kNaN},
                                                    {infinity}};
  for (const ChartCase& one : chart_cases()) {
    for (const std::vector<double>& values : samples) {
      const std::string svg = one.filled(some_chart_text(), "arm", values);
      EXPECT_EQ(checked_svg(svg).fault, "") << one.name << " of " << values[0];
      EXPECT_EQ(svg, one.filled(some_chart_text(), "arm", values)) << one.name;
    }
  }
}

TEST(EveryChart, StatesTitleAndDescription) {
  ChartText text = some_chart_text();
  text.id = "c7";
  for (const ChartCase& one : chart_cases()) {
    const CheckedSvg svg = checked_svg(one.filled(text, "arm", {1, 2}));
    EXPECT_EQ(svg.tags[0].value_of("role"), "img") << one.name;
    EXPECT_EQ(svg.tags[0].value_of("aria-labelledby"), "c7-title c7-desc") << one.name;
    EXPECT_EQ(svg.tags[1].value_of("id"), "c7-title") << one.name;
    EXPECT_TRUE(svg.tags[0].value_of("viewBox").starts_with("0 0 720 ")) << one.name;
    EXPECT_EQ(svg.tags[0].value_of("width"), "") << "scales to its container";
  }
}

TEST(EveryChart, NoLabelCanBreakOutOfIt) {
  const std::string evil =
      "</svg><script>alert('1')</script>\" style=\"x\xE2\x80\xAE&amp;\x01\xff\n";
  ChartText text = {
      .id = "c", .title = evil, .description = evil, .x_label = evil, .y_label = evil};
  for (const ChartCase& one : chart_cases()) {
    const std::string svg = one.filled(text, evil, {1, 2, 3});
    const CheckedSvg checked = checked_svg(svg);
    EXPECT_EQ(checked.fault, "") << one.name;
    EXPECT_EQ(svg.find("<script"), std::string::npos) << one.name;
    EXPECT_EQ(svg.find("style=\""), std::string::npos) << one.name;
    EXPECT_EQ(svg.find("\xE2\x80\xAE"), std::string::npos) << one.name;
    EXPECT_EQ(svg.find('\x01'), std::string::npos) << one.name;
    EXPECT_NE(svg.find("\\u202e"), std::string::npos) << one.name;
  }
  for (const ChartCase& one : chart_cases()) {
    const std::string svg = one.filled(some_chart_text(), "arm", {1, 2, 3});
    EXPECT_EQ(svg.find("style="), std::string::npos) << one.name;
    EXPECT_EQ(svg.find("http"), std::string::npos) << one.name;
    EXPECT_EQ(svg.find("url("), std::string::npos) << one.name;
  }
}

TEST(EveryChart, ALongLabelIsCutAndWholeOnHovering) {
  const std::string label = "depth=24,width=1024,lr=3e-4,gates=on," + std::string(150, 'x') + "end";
  for (const ChartCase& one : chart_cases()) {
    if (one.name == "bar_spectrum") continue;  // has none
    const std::string svg = one.filled(some_chart_text(), label, {1, 2, 3});
    EXPECT_NE(svg.find("…"), std::string::npos) << one.name;
    EXPECT_NE(svg.find(label), std::string::npos) << one.name;
  }
}

TEST(EveryChart, MarksAreInThePicture) {
  for (const ChartCase& one : chart_cases()) {
    const CheckedSvg svg = checked_svg(one.filled(some_chart_text(), "arm", {1, 5, 2, 4}));
    const std::string box = svg.tags[0].value_of("viewBox");
    const double height = std::stod(box.substr(box.rfind(' ')));
    for (const CheckedTag& tag : svg.tags) {
      for (const char* name : {"x", "x1", "x2", "cx"}) {
        if (tag.value_of(name).empty()) continue;
        EXPECT_GE(std::stod(tag.value_of(name)), 0) << one.name;
        EXPECT_LE(std::stod(tag.value_of(name)), 720) << one.name;
      }
      for (const char* name : {"y", "y1", "y2", "cy"}) {
        if (tag.value_of(name).empty()) continue;
        EXPECT_GE(std::stod(tag.value_of(name)), 0) << one.name;
        EXPECT_LE(std::stod(tag.value_of(name)), height) << one.name;
      }
    }
  }
}

TEST(EveryChart, HasOnlyClassesOfTheStylesheet) {
  const std::string css = chart_stylesheet();
  std::set<std::string> used;
  for (const ChartCase& one : chart_cases()) {
    for (const CheckedTag& tag :
         checked_svg(one.filled(some_chart_text(), "arm", {1, kNaN, 2})).tags) {
      std::string word;
      for (const char c : tag.value_of("class") + " ") {
        if (c != ' ') word += c;
        if (c == ' ' && !word.empty()) used.insert(word);
        if (c == ' ') word.clear();
      }
    }
  }
  EXPECT_GT(used.size(), 15U);
  for (const std::string& word : used) {
    const bool known = css.find("." + word + "{") != std::string::npos ||
                       css.find("." + word + ",") != std::string::npos ||
                       css.find("." + word + " ") != std::string::npos;
    EXPECT_TRUE(known) << word;
  }
}

}  // namespace every_chart_test
}  // namespace depthgrid
