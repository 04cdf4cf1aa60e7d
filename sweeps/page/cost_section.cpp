#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/grouped.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/picture/scatter_plot.hpp"

namespace depthgrid {
namespace {

struct CostAxis {
  const char* metric;  // empty: parameters
  const char* label;
};
constexpr std::array kCostAxes = {CostAxis{"", "trainable parameters"},
                                  CostAxis{"cost_flops_total", "operations of the training"},
                                  CostAxis{"cost_wall_time", "seconds of a cell"}};

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

Table costs_table(const PageData& data) {
  Table out{{{"arm"}, {data.by_arm.metric, Align::Right}}, {}};
  for (const CostAxis& axis : kCostAxes) out.columns.push_back({axis.label, Align::Right});
  for (const ComparedRow& row : data.by_arm.effects.front().rows) {
    std::vector<std::string> line = {row.group.name, short_number(row.all.mean)};
    for (const CostAxis& axis : kCostAxes) {
      const double mean = mean_over(data.listing, row.group, axis.metric);
      const bool whole = std::string(axis.metric).empty() && !std::isnan(mean);
      line.push_back(whole ? grouped(std::llround(mean)) : short_number(mean));
    }
    out.rows.push_back(std::move(line));
  }
  return out;
}

}  // namespace

PageBlocks cost_section(const PageData& data) {
  PageBlocks out;
  const bool down = data.by_arm.goal != "maximize";  // of what falls, the front is down and left
  for (std::size_t i = 0; i < kCostAxes.size(); ++i) {
    ScatterPlotData plot;
    plot.front = down;
    double low = kNaN, high = kNaN;
    Table numbers{{{"arm"}, {kCostAxes[i].label}, {data.by_arm.metric}}, {}};
    std::size_t number = 0;
    for (const ComparedRow& row : data.by_arm.effects.front().rows) {
      const double x = mean_over(data.listing, row.group, kCostAxes[i].metric);
      const std::size_t series = number++;
      if (std::isnan(x) || std::isnan(row.all.mean)) continue;
      plot.points.push_back({without_folders(row.group.name), x, row.all.mean, series});
      numbers.rows.push_back({row.group.name, shortest(x), shortest(row.all.mean)});
      low = std::isnan(low) ? x : std::min(low, x);
      high = std::isnan(high) ? x : std::max(high, x);
    }
    if (plot.points.size() < 2) continue;
    if (low > 0 && high > 20 * low) plot.x_scale = AxisScale::Log;
    ChartText text;
    text.id = fmt::format("cost-{}", i);
    text.title = fmt::format("{} against {}", data.by_arm.metric, kCostAxes[i].label);
    text.description = "One point an arm, means over its seeds.";
    if (down) text.description += " The step line joins arms that no other one beats in both.";
    text.x_label = kCostAxes[i].label;
    text.y_label = data.by_arm.metric;
    out.emplace_back(PageChart{text.id, text.title, text.description, scatter_plot(plot, text),
                               std::move(numbers)});
  }
  out.emplace_back(PageTable{"loss and costs of each arm", costs_table(data)});
  return out;
}

}  // namespace depthgrid
