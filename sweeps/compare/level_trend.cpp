#include "sweeps/compare/level_trend.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/compare/seed_pairs.hpp"
#include "sweeps/compare/two_way.hpp"
#include "sweeps/compare/variance.hpp"
#include "sweeps/report/level_text.hpp"

namespace depthgrid {
namespace {

/// Groups of the design whose levels are numbers, ascending; empty if there are fewer than three,
/// or two are equal.
std::vector<std::size_t> ordered_levels(const Design& design) {
  std::vector<std::size_t> out;
  std::set<double> distinct;
  for (std::size_t i = 0; i < design.groups.size(); ++i) {
    const auto& level = design.groups[i].level;
    if (!level || !level->is_number()) continue;
    out.push_back(i);
    distinct.insert(level->number());
  }
  if (out.size() < 3 || distinct.size() != out.size()) return {};
  std::ranges::sort(out, {}, [&design](std::size_t i) { return design.groups[i].level->number(); });
  return out;
}

/// "train.lr = 0.001, model.n_layers = 2".
std::string combination_text(const Listing& listing, const Design& design, std::size_t row) {
  std::vector<std::string> parts;
  for (const std::string& leaf : design.others) {
    const Value* const level = level_of(listing, row, leaf);
    if (level != nullptr) parts.push_back(fmt::format("{} = {}", leaf, level_text(*level)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The combinations that the trend is over, if some level has others, too.
std::vector<std::string> trend_combinations(const Listing& listing, const Design& design,
                                            const std::vector<GroupFigures>& figures,
                                            const std::set<std::string>& complete) {
  std::map<std::string, std::size_t> known;  // with a cell of each
  for (const GroupFigures& group : figures) {
    for (const auto& [seed, of_seed] : group) {
      for (const auto& [combination, figure] : of_seed) known.emplace(combination, figure.row);
    }
  }
  std::vector<std::string> out;
  if (known.size() == complete.size()) return out;
  for (const std::string& combination : complete) {
    out.push_back(combination_text(listing, design, known.at(combination)));
  }
  return out;
}

}  // namespace

void add_level_trend(const Listing& listing, const Design& design,
                     const std::function<double(std::size_t row)>& figure, EffectTable& table) {
  const bool refused = std::ranges::any_of(table.rows, [](const ComparedRow& row) {
    return row.evidence && (row.evidence->pairs.refused || row.evidence->shares_measurements());
  });
  const std::vector<std::size_t> levels = ordered_levels(design);
  if (levels.empty() || refused) return;
  std::vector<GroupFigures> figures;
  std::vector<double> scores;
  for (const std::size_t i : levels) {
    figures.push_back(group_figures(listing, design, design.groups[i], figure));
    scores.push_back(design.groups[i].level->number());
  }
  const CompleteBlocks blocks = complete_blocks(figures, levels.size(), 1);
  if (blocks.seeds.size() < 2) return;
  const MonotoneTrend trend = monotone_trend(blocks.values, scores);
  if (std::isnan(trend.slope.p)) return;
  table.trend = trend;
  table.trend_seeds = blocks.seeds.size();
  table.trend_over = trend_combinations(listing, design, figures, blocks.combinations);
}

}  // namespace depthgrid
