#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "storage/columns/variables.hpp"
#include "sweeps/page/chosen_arms.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/leaf_names.hpp"
#include "sweeps/page/page_commands.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/picture/band_plot.hpp"

namespace depthgrid {
namespace {

using CurvesJson = nlohmann::ordered_json;

std::string curve_label(const PageData& data) {
  const std::string& metric = data.curves.metric;
  const Variable* const variable =
      find_variable(std::string_view(metric).substr(0, metric.find('.')));
  const bool unit = variable != nullptr && variable->units != "1";
  return metric + (unit ? fmt::format(" ({})", variable->units) : "");
}

Table bands_table(const PageData& data) {
  Table out{{{"arm"}, {"step"}, {"mean"}, {"lowest"}, {"highest"}, {"seeds"}}, {}};
  for (const ArmCurve& line : data.curves.lines) {
    for (std::size_t i = 0; i < line.band.x.size(); ++i) {
      out.rows.push_back({line.band.label, shortest(line.band.x[i]), shortest(line.band.mean[i]),
                          shortest(line.band.low[i]), shortest(line.band.high[i]),
                          std::to_string(line.n[i])});
    }
  }
  return out;
}

bool sampled(const PageCurves& curves) {
  return curves.cells.size() < curves.cells_with_curve;
}

/// Steps of curves, each sequence once.
class CurveGrids {
 public:
  std::size_t index_of(const std::vector<double>& steps) {
    const auto [at, fresh] = index_.emplace(steps, index_.size());
    if (fresh) list_.push_back(steps);
    return at->second;
  }
  const CurvesJson& json() const { return list_; }

 private:
  std::map<std::vector<double>, std::size_t> index_;
  CurvesJson list_ = CurvesJson::array();
};

PageText curves_note(std::string text) {
  return {PageText::Kind::Note, std::move(text)};
}

/// What the lines are of, where that is not all seeds everywhere.
void add_curve_notes(PageBlocks& out, const PageData& data) {
  const PageCurves& curves = data.curves;
  if (sampled(curves)) {
    out.emplace_back(curves_note(
        fmt::format("The first picture and its numbers are of all {} cells that have a curve; the "
                    "one below it, its means and bands too, of {} of them, evenly from all arms.",
                    curves.cells_with_curve, curves.cells.size())));
  }
  std::vector<std::string> fewer;
  bool stores = false;
  for (const ArmCurve& line : curves.lines) {
    const bool uneven =
        std::ranges::any_of(line.n, [&line](std::size_t n) { return n < line.seeds; });
    if (uneven) fewer.push_back(line.band.label);
    stores = stores || line.of_store;
  }
  if (!fewer.empty()) {
    out.emplace_back(curves_note(fmt::format(
        "Not all seeds have an evaluation at every step, so the mean is of fewer of them there "
        "(seeds in the CSV): {}.",
        fmt::join(fewer, ", "))));
  }
  if (stores) {
    out.emplace_back(
        curves_note("An arm that several stores have is a line for each of them: their cells may "
                    "have been trained otherwise."));
  }
  std::size_t open = 0;
  for (const PageCurve& curve : curves.cells) {
    open += is_result(data.listing.cells[curve.row].status) ? 0 : 1;
  }
  if (open > 0) {
    out.emplace_back(curves_note(
        fmt::format("{} curve{} of cells that have not ended, as far as {}; in no mean.", open,
                    open == 1 ? " is" : "s are", open == 1 ? "it goes" : "they go")));
  }
}

/// The lines that are drawn, of those with a curve.
std::vector<std::size_t> band_lines(const PageData& data, std::size_t& with_curve) {
  const std::vector<ComparedRow>& rows = data.by_arm.effects.front().rows;
  std::vector<std::size_t> lines, out;
  std::vector<const ComparedRow*> arms;
  for (std::size_t i = 0; i < data.curves.lines.size(); ++i) {
    if (data.curves.lines[i].band.x.empty()) continue;
    lines.push_back(i);
    arms.push_back(&rows[data.curves.lines[i].arm]);
  }
  with_curve = lines.size();
  for (const std::size_t i : chosen_arms(arms, data.by_arm.goal == "maximize")) {
    out.push_back(lines[i]);
  }
  return out;
}

}  // namespace

PageBlocks curves_section(const PageData& data) {
  BandPlotData plot;
  std::size_t with_curve = 0;
  for (const std::size_t i : band_lines(data, with_curve)) {
    const ArmCurve& line = data.curves.lines[i];
    plot.curves.push_back(line.band);
    plot.curves.back().label = without_folders(line.band.label);
  }
  if (plot.curves.empty() && data.curves.cells.empty()) return {};
  ChartText text;
  text.id = "curves-bands";
  text.title = data.curves.metric + " during training";
  text.description = "A line for the mean of each arm's seeds, a band for their range.";
  const std::string choice = chosen_arms_text(
      plot.curves.size(), with_curve,
      std::ranges::any_of(data.curves.lines, &ArmCurve::of_store) ? "lines" : "arms",
      data.by_arm.metric, has_baseline(data.by_arm.effects.front()));
  if (!choice.empty()) text.description += " " + choice;
  text.x_label = "step";
  text.y_label = curve_label(data);
  PageBlocks out;
  add_curve_notes(out, data);
  PageChart chart{text.id,           text.title,           text.description, band_plot(plot, text),
                  bands_table(data), picture_command(data)};
  chart.caption = choice;
  out.emplace_back(PageLive{std::move(chart), curves_json(data), sampled(data.curves)});
  return out;
}

std::string curves_json(const PageData& data) {
  const std::vector<ComparedRow>& groups = data.by_arm.effects.front().rows;
  CurvesJson arms = CurvesJson::array();
  std::set<std::string> names_of;
  for (const EffectTable& one : data.factors.effects) names_of.insert(one.factor);
  const bool stores = std::ranges::any_of(data.curves.lines, &ArmCurve::of_store);
  if (stores) names_of.insert("store");
  const std::vector<std::string> factors(names_of.begin(), names_of.end());
  for (std::size_t i = 0; i < data.curves.lines.size(); ++i) {
    const ArmCurve& line = data.curves.lines[i];
    const std::vector<std::size_t>& cells = groups[line.arm].group.cells;
    const auto own = std::ranges::find_if(cells, [&](std::size_t row) {
      return data.listing.stores.empty() || data.listing.store_of_cell[row] == line.store;
    });
    CurvesJson levels = CurvesJson::object();
    for (const std::string& factor : factors) {
      const Value* const level = level_of(data.listing, *own, factor);
      levels[short_leaf(factor, factors)] =
          level == nullptr ? "–" : mailed_text(plain_text(*level));
    }
    if (stores) levels["store"] = data.stores[line.store];
    arms.push_back({{"name", mailed_text(line.band.label)}, {"series", i}, {"factors", levels}});
  }
  CurvesJson names = CurvesJson::array();
  for (const std::string& factor : factors) names.push_back(short_leaf(factor, factors));
  CurvesJson curves = CurvesJson::array();
  CurveGrids grids;
  for (const PageCurve& curve : data.curves.cells) {
    const CellSummary& cell = data.listing.cells[curve.row];
    CurvesJson y = CurvesJson::array();
    for (const double value : curve.series.values) {
      // Seven digits are those of the file, which has single precision.
      y.push_back(std::isfinite(value) ? std::stod(fmt::format("{:.7g}", value)) : kNaN);
    }
    curves.push_back({{"arm", curve.line},
                      {"seed", cell.seed},
                      {"cell", cell.id},
                      {"status", name_of(cell.status)},
                      {"metric", 0},
                      {"x", grids.index_of(curve.series.steps)},
                      {"y", y}});
  }
  return CurvesJson{{"x_label", "step"},        {"y_label", curve_label(data)},
                    {"goal", data.by_arm.goal}, {"arms", arms},
                    {"factors", names},         {"metrics", {data.curves.metric}},
                    {"grids", grids.json()},    {"curves", curves}}
      .dump(-1, ' ', false, CurvesJson::error_handler_t::replace);
}

}  // namespace depthgrid
