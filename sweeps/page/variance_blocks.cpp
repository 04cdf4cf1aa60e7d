#include "sweeps/page/variance_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/nan.hpp"
#include "core/base/parse_number.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/compare/effect_entries.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/page/effects_blocks.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/picture/heat_map.hpp"
#include "sweeps/picture/interaction_plot.hpp"
#include "sweeps/report/level_text.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostLines = 8;  // of an interaction plot; of more levels there is a map

void add_share(Table& rounded, Table& exact, const std::string& name, const BlockEffect& effect) {
  if (std::isnan(effect.eta2)) return;
  const bool tested = !std::isnan(effect.p);
  rounded.rows.push_back(
      {name, fmt::format("{:.3g}", effect.eta2),
       tested ? fmt::format("{:.3g}", effect.omega2) : "-",
       tested ? fmt::format("{:.4g}", effect.f) : "-",
       tested ? fmt::format("{:.0f}, {:.0f}", effect.degrees, effect.error_degrees) : "-",
       probability_text(effect.p)});
  exact.rows.push_back({name, exact_number(effect.eta2), exact_number(effect.partial_eta2),
                        exact_number(effect.omega2), exact_number(effect.f),
                        exact_number(effect.degrees), exact_number(effect.error_degrees),
                        exact_number(effect.p)});
}

PageTable shares_table(const VarianceTable& variance, const std::string& what) {
  PageTable out{
      fmt::format("shares of variance of {}, {} seeds as blocks", what, variance.seeds.size()),
      {{{"effect"},
        {"η²", Align::Right},
        {"ω²", Align::Right},
        {"F", Align::Right},
        {"degrees", Align::Right},
        {"p", Align::Right}},
       {}}};
  for (const char* title :
       {"effect", "eta2", "partial_eta2", "omega2", "f", "degrees", "error_degrees", "p"}) {
    out.exact.columns.push_back({title});
  }
  add_share(out.table, out.exact, variance.a, variance.effects.a);
  if (!variance.b.empty()) {
    add_share(out.table, out.exact, variance.b, variance.effects.b);
    add_share(out.table, out.exact, what, variance.effects.interaction);
  }
  return out;
}

/// Means of the combinations, (levels of A, levels of B); NaN where there is none.
std::vector<double> combination_means(const Comparison& comparison, const VarianceTable& variance) {
  const std::size_t width = variance.levels_b.size();
  std::vector<double> out(variance.levels_a.size() * width, kNaN);
  for (const EffectTable& table : comparison.effects) {
    if (table.factor != variance.a || table.within.empty()) continue;
    const auto b = std::ranges::find_if(variance.levels_b, [&](const std::string& level) {
      return table.within == fmt::format("{} = {}", variance.b, level);
    });
    if (b == variance.levels_b.end()) continue;
    for (const ComparedRow& row : table.rows) {
      const auto a = std::ranges::find(variance.levels_a, row.group.name);
      if (a == variance.levels_a.end()) continue;
      out[static_cast<std::size_t>(a - variance.levels_a.begin()) * width +
          static_cast<std::size_t>(b - variance.levels_b.begin())] = row.all.mean;
    }
  }
  return out;
}

/// Of a level as level_text() writes it: "0.5", "1/6"; nothing if it is none.
std::optional<double> number_of_level(const std::string& level) {
  const auto number = parse_number<double>(level);
  return number ? number : fraction_of(level, Value());
}

/// Indices in the order in which levels are drawn: numbers ascend, other levels stay as they are.
std::vector<std::size_t> drawn_order(const std::vector<std::string>& levels) {
  std::vector<std::size_t> out(levels.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::vector<double> numbers(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto number = number_of_level(levels[i]);
    if (!number) return out;
    numbers[i] = *number;
  }
  std::ranges::stable_sort(out, {}, [&numbers](std::size_t i) { return numbers[i]; });
  return out;
}

/// Whether two levels of each factor have all of their combinations.
bool has_square(const std::vector<double>& means, std::size_t width) {
  const std::size_t height = means.size() / width;
  const auto both = [&](std::size_t i, std::size_t k, std::size_t b) {
    return std::isfinite(means[i * width + b]) && std::isfinite(means[k * width + b]);
  };
  for (std::size_t i = 0; i < height; ++i) {
    for (std::size_t k = i + 1; k < height; ++k) {
      std::size_t shared = 0;
      for (std::size_t b = 0; b < width; ++b) shared += both(i, k, b) ? 1 : 0;
      if (shared >= 2) return true;
    }
  }
  return false;
}

/// Nothing without two levels of each factor: then no lines can be parallel.
std::optional<PageChart> interaction_chart(const Comparison& comparison,
                                           const VarianceTable& variance, const std::string& id,
                                           const std::string& command) {
  const std::vector<double> means = combination_means(comparison, variance);
  if (!has_square(means, variance.levels_b.size())) return std::nullopt;
  const std::string label = metric_title(comparison);
  PageChart out;
  ChartText text;
  text.id = out.id = id + "-interaction";
  text.title = out.title =
      fmt::format("{} by {} and {}", comparison.metric, variance.a, variance.b);
  text.x_label = variance.b;
  const std::vector<std::size_t> order_a = drawn_order(variance.levels_a),
                                 order_b = drawn_order(variance.levels_b);
  std::vector<std::string> a, b;
  for (const std::size_t i : order_a) a.push_back(without_folders(variance.levels_a[i]));
  for (const std::size_t j : order_b) b.push_back(without_folders(variance.levels_b[j]));
  std::vector<double> drawn;
  for (const std::size_t i : order_a) {
    for (const std::size_t j : order_b) drawn.push_back(means[i * order_b.size() + j]);
  }
  if (a.size() <= kMostLines) {
    text.y_label = label;
    text.description = fmt::format(
        "A line for each level of {}: means over the seeds. Lines that are not parallel are an "
        "interaction.",
        variance.a);
    out.svg = interaction_plot({.a_levels = a, .b_levels = b, .means = drawn}, text);
  } else {
    text.y_label = variance.a;
    text.description = "A cell for each combination: the mean over its seeds.";
    out.svg = heat_map({.rows = a, .columns = b, .values = drawn, .value_label = label}, text);
  }
  out.alternative = text.description;
  out.numbers.columns = {{variance.a}, {variance.b}, {comparison.metric}};
  for (std::size_t i = 0; i < means.size(); ++i) {
    out.numbers.rows.push_back(
        {variance.levels_a[i / b.size()], variance.levels_b[i % b.size()], exact_number(means[i])});
  }
  out.command = command;
  return out;
}

PageTable interactions_table(const VarianceTable& variance) {
  PageTable out{
      fmt::format("how effects of {} differ with {} (exploratory)", variance.a, variance.b),
      {{{variance.a},
        {"at"},
        {"more than at the baseline", Align::Right},
        {"95 % interval"},
        {"p", Align::Right}},
       {}}};
  out.exact.columns = {{variance.a}, {variance.b}, {"difference"}, {"low"}, {"high"}, {"p"}, {"n"}};
  for (const InteractionContrast& one : variance.interactions) {
    const PairedContrast& c = one.contrast;
    out.table.rows.push_back({one.a, fmt::format("{} = {}", variance.b, one.b),
                              difference_text(c.mean, c.interval.half_width()),
                              interval_text(c.interval), probability_text(c.p)});
    out.exact.rows.push_back({one.a, one.b, exact_number(c.mean), exact_number(c.interval.low),
                              exact_number(c.interval.high), exact_number(c.p),
                              std::to_string(c.n)});
  }
  out.folded = true;
  return out;
}

}  // namespace

PageBlocks variance_blocks(const Comparison& comparison, const VarianceTable& variance,
                           const std::string& id, const std::string& command) {
  PageBlocks out;
  const bool two = !variance.b.empty();
  const std::string what = two ? variance.a + " × " + variance.b : variance.a;
  if (!variance.refused.empty()) {
    add_notes(out, fmt::format("No shares of variance of {}: {}.", what, variance.refused));
  } else if (variance.effects.total_squares > 0) {
    out.emplace_back(shares_table(variance, what));
  }
  if (!two || variance.levels_a.size() < 2 || variance.levels_b.size() < 2) return out;
  if (auto chart = interaction_chart(comparison, variance, id, command)) {
    out.emplace_back(std::move(*chart));
  }
  if (!variance.interactions.empty()) out.emplace_back(interactions_table(variance));
  return out;
}

PageBlocks single_level_blocks(const Comparison& comparison) {
  Comparison explored = comparison;
  std::erase_if(explored.effects, [](const EffectTable& table) { return !table.exploratory; });
  PageTable out{"effects at single levels of the other factors (exploratory: outside the family)",
                {{{"level"},
                  {"at"},
                  {"against"},
                  {"seeds", Align::Right},
                  {"difference", Align::Right},
                  {"95 % interval"},
                  {"p", Align::Right},
                  {"verdict"}},
                 {}}};
  for (const EffectTable& table : explored.effects) {
    for (const ComparedRow& row : table.rows) {
      if (!row.evidence || std::isnan(row.evidence->p()) || row.evidence->censored) continue;
      const PairedContrast& c = row.evidence->contrast;
      out.table.rows.push_back({fmt::format("{} = {}", table.factor, row.group.name), table.within,
                                table.baseline_name, std::to_string(c.n),
                                difference_text(c.mean, c.interval.half_width()),
                                interval_text(c.interval), probability_text(c.p),
                                verdict_entry(*row.evidence, comparison.margin)});
    }
  }
  if (out.table.rows.empty()) return {};
  out.exact = comparison_csv_table(explored);
  out.folded = true;
  return {out};
}

}  // namespace depthgrid
