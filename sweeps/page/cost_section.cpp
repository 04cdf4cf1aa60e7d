#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/grouped.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/page/effects_blocks.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/page_commands.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/picture/scatter_plot.hpp"

namespace depthgrid {
namespace {

struct CostAxis {
  const char* metric;  // empty: parameters
  const char* label;
  bool of_machine = false;  // comparable on one kind of machine only
};
constexpr std::array kCostAxes = {CostAxis{"", "trainable parameters"},
                                  CostAxis{"cost_flops_total", "operations of the training"},
                                  CostAxis{"cost_wall_time", "seconds of a cell", true}};

/// Mean of a number over the completed cells of a group; NaN without any.
double mean_over(const Listing& listing, const ComparedGroup& group, const std::string& metric) {
  double sum = 0, n = 0;
  for (const std::size_t row : group.cells) {
    const CellSummary& cell = listing.cells[row];
    if (cell.status != CellStatus::Completed) continue;
    const auto at = cell.metrics.find(metric);
    const bool parameters = metric.empty() && cell.parameters > 0;
    if (!parameters && at == cell.metrics.end()) continue;
    sum += parameters ? static_cast<double>(cell.parameters) : at->second;
    ++n;
  }
  return n > 0 ? sum / n : kNaN;
}

PageTable costs_table(const PageData& data) {
  PageTable out{"loss and costs of each arm, means over its completed cells",
                {{{"arm"}, {data.by_arm.metric, Align::Right}, {"seeds", Align::Right}}, {}}};
  for (const CostAxis& axis : kCostAxes) out.table.columns.push_back({axis.label, Align::Right});
  out.exact = out.table;
  for (const ComparedRow& row : data.by_arm.effects.front().rows) {
    std::vector<std::string> shown = {row.group.name, short_number(row.all.mean),
                                      std::to_string(row.all.n)};
    std::vector<std::string> exact = {row.group.name, exact_number(row.all.mean), shown[2]};
    for (const CostAxis& axis : kCostAxes) {
      const double mean = mean_over(data.listing, row.group, axis.metric);
      const bool whole = std::string(axis.metric).empty() && !std::isnan(mean);
      shown.push_back(whole ? grouped(std::llround(mean)) : short_number(mean));
      exact.push_back(exact_number(mean));
    }
    out.table.rows.push_back(std::move(shown));
    out.exact.rows.push_back(std::move(exact));
  }
  return out;
}

/// Why seconds of these cells cannot be compared; empty if they can.
std::string machines_apart(const PageData& data) {
  std::map<std::string, std::string> first;  // machine, alias
  for (const auto& [row, series] : data.curves.completed) {
    first.emplace(series.machines.empty() ? "an unknown device" : series.machines,
                  data.listing.cells[row].alias);
  }
  if (first.size() < 2) return {};
  std::vector<std::string> parts;
  for (const auto& [machine, alias] : first) {
    if (parts.size() < 3) parts.push_back(fmt::format("{} on {}", alias, machine));
  }
  return fmt::format("{}{}", fmt::join(parts, "; "), first.size() > 3 ? "; …" : "");
}

/// Arms whose figures cannot be compared with the baseline's.
std::vector<std::string> refused_arms(const PageData& data) {
  std::vector<std::string> out;
  for (const ComparedRow& row : data.by_arm.effects.front().rows) {
    if (row.evidence && row.evidence->pairs.refused) out.push_back(row.group.name);
  }
  return out;
}

/// Nothing unless two arms have both figures.
std::optional<PageChart> cost_chart(const PageData& data, std::size_t number, bool front) {
  const CostAxis& axis = kCostAxes.at(number);
  ScatterPlotData plot;
  plot.front = front;
  double low = kNaN, high = kNaN;
  Table numbers{{{"arm"}, {axis.label}, {data.by_arm.metric}}, {}};
  std::size_t series = 0;
  for (const ComparedRow& row : data.by_arm.effects.front().rows) {
    const std::size_t own = series++;
    const double x = mean_over(data.listing, row.group, axis.metric);
    const bool refused = row.evidence && row.evidence->pairs.refused;
    if (refused || std::isnan(x) || std::isnan(row.all.mean)) continue;
    plot.points.push_back(
        {.label = without_folders(row.group.name), .x = x, .y = row.all.mean, .series = own});
    numbers.rows.push_back({row.group.name, shortest(x), shortest(row.all.mean)});
    low = std::isnan(low) ? x : std::min(low, x);
    high = std::isnan(high) ? x : std::max(high, x);
  }
  if (plot.points.size() < 2) return std::nullopt;
  if (low > 0 && high > 20 * low) plot.x_scale = AxisScale::Log;
  ChartText text;
  text.id = fmt::format("cost-{}", number);
  text.title = fmt::format("{} against {}", data.by_arm.metric, axis.label);
  text.description = "One point an arm, means over its seeds.";
  if (front) text.description += " The step line joins arms that no other one beats in both.";
  text.x_label = axis.label;
  text.y_label =
      data.by_arm.metric + (data.by_arm.unit.empty() ? "" : fmt::format(" ({})", data.by_arm.unit));
  return PageChart{text.id,
                   text.title,
                   text.description,
                   scatter_plot(plot, text),
                   std::move(numbers),
                   results_command(data, {"arm", "seed", "status", "parameters", data.by_arm.metric,
                                          "cost_flops_total", "cost_wall_time"})};
}

}  // namespace

PageBlocks cost_section(const PageData& data) {
  PageBlocks out;
  const bool down = data.by_arm.goal != "maximize";  // of what falls, the front is down and left
  const std::string apart = machines_apart(data);
  for (std::size_t i = 0; i < kCostAxes.size(); ++i) {
    const bool comparable = !kCostAxes[i].of_machine || apart.empty();
    auto chart = cost_chart(data, i, down && comparable);
    if (!chart) continue;
    out.emplace_back(std::move(*chart));
    if (kCostAxes[i].of_machine && comparable) {
      add_notes(out, "Seconds are of the cells as they ran, beside whatever else the machine did.");
    }
    if (comparable) continue;
    add_notes(out, fmt::format("No front is drawn over seconds: those of other devices, or of jobs "
                               "of other sizes, cannot be compared: {}.",
                               apart));
  }
  if (const std::vector<std::string> refused = refused_arms(data); !refused.empty()) {
    add_notes(out,
              fmt::format("Not drawn, as their figures cannot be compared with those of {}: "
                          "{}; the reasons stand with the answer.",
                          data.by_arm.effects.front().baseline_name, fmt::join(refused, ", ")));
  }
  out.emplace_back(costs_table(data));
  return out;
}

}  // namespace depthgrid
