#include "sweeps/page/page_sections.hpp"

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/grouped.hpp"
#include "core/base/version.hpp"
#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/picture/scatter_plot.hpp"
#include "sweeps/report/provenance_notes.hpp"
#include "sweeps/report/results_query.hpp"
#include "sweeps/report/sweep_numbers.hpp"

namespace depthgrid {
namespace {

constexpr std::array kSections = {
    PageSection{"answer", "The answer", answer_section},
    PageSection{"factors", "Factors", factors_section},
    PageSection{"curves", "Learning curves", curves_section},
    PageSection{"cost", "What it costs", cost_section},
    PageSection{"depth", "Along depth", depth_section},
    PageSection{"missing", "What is missing, and why", missing_section},
    PageSection{"provenance", "Where it comes from", provenance_section},
};

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

std::span<const PageSection> page_sections() {
  return kSections;
}

std::string cost_section(const PageData& data) {
  std::string out;
  const bool down = data.by_arm.goal != "maximize";  // of what falls, the front is down and left
  for (std::size_t i = 0; i < kCostAxes.size(); ++i) {
    ScatterPlotData plot;
    plot.front = down;
    double low = kNaN, high = kNaN;
    std::size_t number = 0;
    for (const ComparedRow& row : data.by_arm.effects.front().rows) {
      const double x = mean_over(data.listing, row.group, kCostAxes[i].metric);
      const std::size_t series = number++;
      if (std::isnan(x) || std::isnan(row.all.mean)) continue;
      plot.points.push_back({without_folders(row.group.name), x, row.all.mean, series});
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
    out += html_chart(scatter_plot(plot, text), text.title);
  }
  const Table table = costs_table(data);
  return out + html_table(table, "loss and costs of each arm") + html_csv(table);
}

std::string missing_section(const PageData& data) {
  Table out{{{"cell"}, {"state"}, {"step", Align::Right}, {"of", Align::Right}}, {}};
  if (data.include.logs) out.columns.push_back({"reason"});
  std::array<std::size_t, 7> counts{};
  constexpr std::size_t kMost = 200;
  std::size_t more = 0;
  for (const std::size_t row : data.rows) {
    const CellSummary& cell = data.listing.cells[row];
    ++counts[static_cast<std::size_t>(cell.status)];
    if (cell.status == CellStatus::Completed) continue;
    if (out.rows.size() == kMost) {
      ++more;
      continue;
    }
    std::vector<std::string> line = {cell.alias, std::string(name_of(cell.status)),
                                     std::to_string(cell.step), std::to_string(cell.steps)};
    if (data.include.logs) line.push_back(cell.problem);
    out.rows.push_back(std::move(line));
  }
  if (out.rows.empty()) return "<p>Nothing: every cell has completed.</p>\n";
  std::string text = fmt::format("<p>Not in any mean: {}.</p>\n", html_text(missing_text(counts)));
  text += html_table(out, "cells without a result");
  if (more > 0) text += fmt::format("<p class=\"note\">And {} more.</p>\n", more);
  if (!data.include.logs) {
    text +=
        "<p class=\"note\">Reasons are text of logs: <code>--include logs</code> shows them "
        "here.</p>\n";
  }
  return text;
}

std::string provenance_section(const PageData& data) {
  const Listing& listing = data.listing;
  std::set<std::string> codes, settings, audits;
  std::int64_t attempts = 0, damages = 0;
  for (const std::size_t row : data.rows) {
    const CellSummary& cell = listing.cells[row];
    if (!cell.code.empty()) codes.insert(cell.code);
    if (!cell.settings.empty()) settings.insert(cell.settings);
    if (!cell.code.empty()) audits.insert(cell.audit.empty() ? "passed" : cell.audit);
    attempts += cell.attempts;
    damages += cell.damages_met;
  }
  const SweepNumbers numbers = sweep_numbers(listing);
  Table out{{{"what"}, {"value"}}, {}};
  const auto add = [&out](const char* what, const std::string& value) {
    if (!value.empty()) out.rows.push_back({what, value});
  };
  add("sweep", listing.sweep);
  add("cells", std::to_string(data.rows.size()));
  add("attempts", std::to_string(attempts));
  add("trained by", fmt::format("{}", fmt::join(codes, "; ")));
  add("settings", fmt::format("{}", fmt::join(settings, "; ")));
  add("audits", fmt::format("{}", fmt::join(audits, "; ")));
  add("used", short_seconds(numbers.used));
  add("lost to interruptions", short_seconds(numbers.lost));
  if (damages > 0) add("damaged files met", std::to_string(damages));
  add("page made by", "depthgrid " + code_version());
  std::string text = html_table(out, "provenance");
  if (const std::string notes = provenance_notes(listing, data.rows); !notes.empty()) {
    text += "<p class=\"note\">" + html_text(notes) + "</p>\n";
  }
  return text;
}

}  // namespace depthgrid
