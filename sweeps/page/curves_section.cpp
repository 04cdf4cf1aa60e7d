#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/columns/variables.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/picture/band_plot.hpp"

namespace depthgrid {
namespace {

using CurvesJson = nlohmann::ordered_json;

std::string curve_label(const PageData& data) {
  const Variable* const variable =
      find_variable(std::string_view(data.curve_metric).substr(0, data.curve_metric.find('.')));
  const bool unit = variable != nullptr && variable->units != "1";
  return data.curve_metric + (unit ? fmt::format(" ({})", variable->units) : "");
}

/// The last part of a leaf's name where no other factor ends likewise.
std::string short_name(const std::string& leaf, const std::set<std::string>& factors) {
  const std::string last = leaf.substr(leaf.rfind('.') + 1);
  const auto ends_so = [&last](const std::string& one) {
    return one.substr(one.rfind('.') + 1) == last;
  };
  return std::ranges::count_if(factors, ends_so) > 1 ? leaf : last;
}

CurvesJson finite(double value) {
  return std::isfinite(value) ? CurvesJson(value) : CurvesJson();
}

Table bands_table(const PageData& data) {
  Table out{{{"arm"}, {"step"}, {"mean"}, {"lowest"}, {"highest"}, {"seeds"}}, {}};
  for (const ArmCurve& curve : data.arm_curves) {
    for (std::size_t i = 0; i < curve.band.x.size(); ++i) {
      out.rows.push_back({curve.band.label, shortest(curve.band.x[i]), shortest(curve.band.mean[i]),
                          shortest(curve.band.low[i]), shortest(curve.band.high[i]),
                          std::to_string(curve.seeds)});
    }
  }
  return out;
}

}  // namespace

PageBlocks curves_section(const PageData& data) {
  BandPlotData plot;
  for (const ArmCurve& curve : data.arm_curves) {
    if (curve.band.x.empty()) continue;
    plot.curves.push_back(curve.band);
    plot.curves.back().label = without_folders(curve.band.label);
  }
  if (plot.curves.empty()) return {};
  ChartText text;
  text.id = "curves-bands";
  text.title = data.curve_metric + " during training";
  text.description = "A line for the mean of each arm's seeds, a band for their range.";
  text.x_label = "step";
  text.y_label = curve_label(data);
  PageBlocks out;
  if (data.curves.size() < data.curve_cells) {
    out.emplace_back(PageText{
        PageText::Kind::Note,
        fmt::format("Single cells: {} of {}, evenly from all arms; means and bands are of all.",
                    data.curves.size(), data.curve_cells)});
  }
  out.emplace_back(
      PageLive{{text.id, text.title, text.description, band_plot(plot, text), bands_table(data)},
               curves_json(data)});
  return out;
}

std::string curves_json(const PageData& data) {
  const std::vector<ComparedRow>& groups = data.by_arm.effects.front().rows;
  std::map<std::size_t, std::size_t> arm_of;  // by row
  CurvesJson arms = CurvesJson::array();
  std::set<std::string> factors;
  for (const Comparison& one : data.by_factor) factors.insert(one.effects.front().factor);
  for (std::size_t a = 0; a < groups.size(); ++a) {
    const ComparedGroup& group = groups[a].group;
    CurvesJson levels = CurvesJson::object();
    for (const std::string& factor : factors) {
      const Value* const level = level_of(data.listing, group.cells.front(), factor);
      levels[short_name(factor, factors)] =
          level == nullptr ? "–" : without_folders(plain_text(*level));
    }
    arms.push_back({{"name", without_folders(group.name)}, {"series", a}, {"factors", levels}});
    for (const std::size_t row : group.cells) arm_of[row] = a;
  }
  CurvesJson names = CurvesJson::array();
  for (const std::string& factor : factors) names.push_back(short_name(factor, factors));
  CurvesJson curves = CurvesJson::array();
  for (const PageCurve& curve : data.curves) {
    const CellSummary& cell = data.listing.cells[curve.row];
    CurvesJson y = CurvesJson::array();
    for (const double value : curve.series.values) {
      // Seven digits are those of the file, which has single precision.
      y.push_back(std::isfinite(value) ? finite(std::stod(fmt::format("{:.7g}", value)))
                                       : CurvesJson());
    }
    curves.push_back({{"arm", arm_of.at(curve.row)},
                      {"seed", cell.seed},
                      {"cell", cell.id},
                      {"status", name_of(cell.status)},
                      {"metric", 0},
                      {"x", curve.series.steps},
                      {"y", y}});
  }
  return CurvesJson{{"x_label", "step"},        {"y_label", curve_label(data)},
                    {"goal", data.by_arm.goal}, {"arms", arms},
                    {"factors", names},         {"metrics", {data.curve_metric}},
                    {"curves", curves}}
      .dump(-1, ' ', false, CurvesJson::error_handler_t::replace);
}

}  // namespace depthgrid
