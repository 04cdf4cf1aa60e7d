#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/nan.hpp"
#include "core/config/value.hpp"
#include "sweeps/compare/contrast.hpp"
#include "sweeps/compare/effect_entries.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/page/probe_blocks.hpp"
#include "sweeps/picture/scatter_plot.hpp"
#include "sweeps/picture/token_map.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostMapPositions = 256;

/// The word of a leaf in a cell, also where all cells share it; empty if nobody has it.
std::string word_in_cell(const Listing& listing, std::size_t row, std::string_view leaf) {
  if (const Value* const level = level_of(listing, row, leaf)) return plain_text(*level);
  for (const auto& [path, value] : listing.constant) {
    if (path == leaf) return plain_text(value);
  }
  return {};
}

/// Share of tokens that layers which may skip executed in the last evaluation, in the mode whose
/// loss is the cell's; NaN where nothing may be skipped.
double executed_share_of(const Listing& listing, std::size_t row) {
  const auto& metrics = listing.cells[row].metrics;
  std::string decider = word_in_cell(listing, row, "model.tdt.decider");
  if (decider.empty()) decider = "calibrated";
  for (const std::string& mode : {std::string("predictor"), "student_" + decider}) {
    const auto at = metrics.find("final_executed_share." + mode);
    if (at != metrics.end()) return at->second;
  }
  return kNaN;
}

double executed_share_of(const Listing& listing, const ComparedGroup& group) {
  double sum = 0, n = 0;
  for (const std::size_t row : group.cells) {
    if (listing.cells[row].status != CellStatus::Completed) continue;
    const double share = executed_share_of(listing, row);
    if (std::isnan(share)) continue;
    sum += share;
    ++n;
  }
  return n > 0 ? sum / n : kNaN;
}

/// Executed share against the metric; nothing unless two arms skip tokens.
void add_capacity(PageBlocks& out, const PageData& data) {
  const std::string& metric = data.by_arm.metric;
  ScatterPlotData plot;
  Table numbers{{{"arm"}, {"executed share"}, {metric}, {"low"}, {"high"}, {"seeds"}}, {}};
  std::vector<std::string> spoken;
  std::size_t number = 0;
  for (const ComparedRow& row : data.by_arm.effects.front().rows) {
    const double share = executed_share_of(data.listing, row.group);
    const std::size_t series = number++;
    if (std::isnan(share) || std::isnan(row.all.mean)) continue;
    const ConfidenceLimits limits = paired_contrast(row.values).interval;
    const std::string name = without_folders(row.group.name);
    plot.points.push_back({name, share, row.all.mean, series, {limits.low, limits.high}});
    numbers.rows.push_back({row.group.name, shortest(share), shortest(row.all.mean),
                            exact_number(limits.low), exact_number(limits.high),
                            std::to_string(row.all.n)});
    spoken.push_back(
        fmt::format("{}: {} executed, {}", name, chart_number(share), chart_number(row.all.mean)));
  }
  if (plot.points.size() < 2) return;
  constexpr std::size_t kMostSpoken = 8;
  const std::size_t more = spoken.size() > kMostSpoken ? spoken.size() - kMostSpoken : 0;
  spoken.resize(spoken.size() - more);
  ChartText text;
  text.id = "routing-capacity";
  text.title = metric + " against the share of tokens that is executed";
  text.description = fmt::format(
      "A point for each arm that skips tokens, the mean over its seeds with its 95 % interval; the "
      "share is that of the layers that may skip, in the last evaluation of the mode whose loss "
      "this is. {}{}.",
      fmt::join(spoken, "; "), more > 0 ? fmt::format("; and {} more", more) : "");
  text.x_label = "executed share of the tokens of layers that may skip";
  text.y_label = metric_title(data.by_arm);
  out.emplace_back(PageText{PageText::Kind::Heading, text.title});
  out.emplace_back(PageChart{text.id, text.title, text.description, scatter_plot(plot, text),
                             std::move(numbers)});
}

/// The first positions of a mask.
TokenMapData map_data(const SeenMask& seen) {
  const TokenMask& mask = seen.mask;
  TokenMapData out;
  out.positions = std::min(mask.positions, kMostMapPositions);
  for (std::size_t layer = 0; layer < mask.layers.size(); ++layer) {
    out.layers.push_back(fmt::format("layer {}", mask.layers[layer]));
    const auto begin = mask.executed.begin() + static_cast<std::ptrdiff_t>(layer * mask.positions);
    out.executed.insert(out.executed.end(), begin,
                        begin + static_cast<std::ptrdiff_t>(out.positions));
  }
  if (seen.tokens.size() >= out.positions) {
    out.tokens.assign(seen.tokens.begin(),
                      seen.tokens.begin() + static_cast<std::ptrdiff_t>(out.positions));
  }
  return out;
}

Table mask_table(const SeenMask& seen) {
  const TokenMask& mask = seen.mask;
  const bool named = seen.tokens.size() == mask.positions;
  Table out{{{"position"}}, {}};
  if (named) out.columns.push_back({"token"});
  for (const std::int64_t layer : mask.layers) {
    out.columns.push_back({fmt::format("layer {}", layer)});
  }
  for (std::size_t p = 0; p < mask.positions; ++p) {
    std::vector<std::string> row = {std::to_string(p)};
    if (named) row.push_back(seen.tokens[p]);
    for (std::size_t layer = 0; layer < mask.layers.size(); ++layer) {
      row.push_back(std::to_string(mask.executed[layer * mask.positions + p]));
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

/// "layer 1 executes 32 of 128, …".
std::string mask_summary(const TokenMapData& map) {
  std::vector<std::string> out;
  for (std::size_t layer = 0; layer < map.layers.size(); ++layer) {
    const auto begin = map.executed.begin() + static_cast<std::ptrdiff_t>(layer * map.positions);
    const auto n = std::count(begin, begin + static_cast<std::ptrdiff_t>(map.positions), 1);
    out.push_back(fmt::format("{} executes {} of {}", map.layers[layer], n, map.positions));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

void add_masks(PageBlocks& out, const PageData& data) {
  const ProbeSights& probes = data.probes;
  if (probes.masks.empty()) return;
  out.emplace_back(
      PageText{PageText::Kind::Heading, "Which tokens of a sequence each layer executes"});
  const std::vector<ComparedRow>& arms = data.by_arm.effects.front().rows;
  for (const SeenMask& seen : probes.masks) {
    const TokenMapData map = map_data(seen);
    const std::string arm = without_folders(arms.at(seen.arm).group.name);
    const bool student = seen.mask.variable == "routing_mask";
    const std::string part =
        map.positions < seen.mask.positions
            ? fmt::format(", its first {} of {} tokens", map.positions, seen.mask.positions)
            : "";
    ChartText text;
    text.id = fmt::format("routing-map-{}", seen.arm);
    text.title = fmt::format("Tokens that each layer executes: {}", arm);
    text.description = fmt::format(
        "The first sequence of the probe set{}, at step {}, seed {}, as the {} chooses: a block "
        "where a layer executes a token, a line where it skips it. {}.",
        part, seen.mask.step, data.listing.cells[seen.row].seed, student ? "student" : "teacher",
        mask_summary(map));
    out.emplace_back(
        PageChart{text.id, text.title, text.description, token_map(map, text), mask_table(seen)});
  }
  if (!data.include.tokens) {
    out.emplace_back(
        PageText{PageText::Kind::Note,
                 "The text of the tokens is left out: --include tokens shows it here."});
  } else if (!probes.no_tokens.empty()) {
    out.emplace_back(PageText{PageText::Kind::Note,
                              "Without the text of the tokens: " + probes.no_tokens + "."});
  }
}

}  // namespace

PageBlocks routing_section(const PageData& data) {
  PageBlocks out;
  add_capacity(out, data);
  add_masks(out, data);
  add_blocks(out, probe_blocks(data, ProbePart::Routing));
  return out;
}

}  // namespace depthgrid
