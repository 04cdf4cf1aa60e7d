#include "sweeps/compare/variance.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/report/level_text.hpp"

namespace depthgrid {
namespace {

/// "hidden = 64", as a filter reads it.
std::string filter_term(std::string_view name, const std::string& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
  const bool plain = value.find_first_not_of(kPlain) == value.npos;
  return fmt::format("{} = {}", name, plain ? value : "'" + value + "'");
}

/// The levels of one factor: groups of a design that take part in the grid.
struct GridSide {
  std::string factor;
  std::vector<ComparedGroup> groups;
  std::size_t baseline = 0;

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const ComparedGroup& group : groups) out.push_back(group.name);
    return out;
  }
  std::string text(std::size_t level) const {
    const ComparedGroup& group = groups[level];
    // What has no tag is known by its arm.
    const bool by_arm = factor == "tag" && group.tag.empty();
    return filter_term(by_arm ? "arm" : factor, group.name);
  }
};

GridSide side_of(const Design& design) {
  GridSide out;
  out.factor = design.factor;
  for (const ComparedGroup& group : design.groups) {
    if (!design.of_arms() && !group.level) continue;
    if (group.baseline) out.baseline = out.groups.size();
    out.groups.push_back(group);
  }
  return out;
}

/// The grid as it is there: figures by level of A and of B, row-major.
struct GridFigures {
  GridSide a, b;
  std::vector<GroupFigures> cells;
  std::set<std::int64_t> seeds;
  /// Combinations of the other leaves that a whole cell has, each with the level of each leaf.
  std::map<std::string, std::vector<std::string>> combinations;
  std::vector<std::string> others;

  std::size_t levels_b() const { return std::max<std::size_t>(1, b.groups.size()); }
};

std::optional<std::size_t> level_index(const GridSide& side, std::size_t row) {
  for (std::size_t i = 0; i < side.groups.size(); ++i) {
    if (std::ranges::binary_search(side.groups[i].cells, row)) return i;
  }
  return std::nullopt;
}

GridFigures grid_figures(const Listing& listing, const std::vector<std::size_t>& rows,
                         const std::array<std::string, 2>& factors,
                         const std::array<std::string, 2>& baselines,
                         const std::function<double(std::size_t row)>& figure) {
  Design design = design_of(listing, rows, factors[0], baselines[0]);
  GridFigures out;
  out.a = side_of(design);
  if (!factors[1].empty()) {
    const Design other = design_of(listing, rows, factors[1], baselines[1]);
    out.b = side_of(other);
    std::erase(design.others, factors[1]);
    for (const std::string& leaf : other.moving_with) std::erase(design.others, leaf);
  }
  out.cells.resize(out.a.groups.size() * out.levels_b());
  std::vector<ComparedGroup> members(out.cells.size());
  out.others = design.others;
  for (const std::size_t row : rows) {
    const auto i = level_index(out.a, row);
    const auto j = factors[1].empty() ? std::optional<std::size_t>(0) : level_index(out.b, row);
    if (!i || !j) continue;
    ValueMap choice;
    std::vector<std::string> levels;
    for (const std::string& leaf : design.others) {
      const Value* const value = level_of(listing, row, leaf);
      if (value != nullptr) choice.emplace_back(leaf, *value);
      levels.push_back(value == nullptr ? "null" : level_text(*value));
    }
    design.combination[row] = canonical_json(Value(std::move(choice)));
    out.combinations.emplace(design.combination[row], std::move(levels));
    members[*i * out.levels_b() + *j].cells.push_back(row);
    out.seeds.insert(listing.cells[row].seed);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    out.cells[i] = group_figures(listing, design, members[i], figure);
  }
  return out;
}

/// "(seed = 0 or seed = 1)"; empty if all of them are kept.
std::string choice_text(const std::vector<std::string>& texts, std::size_t all) {
  if (texts.size() == all) return {};
  return texts.size() == 1 ? texts.front() : fmt::format("({})", fmt::join(texts, " or "));
}

/// Levels of one other leaf that a part keeps.
struct KeptLevels {
  std::size_t leaf = 0;  // index among the other leaves
  std::set<std::string> levels;
};

/// Choices of levels of one leaf: each subset of few levels; of many, single ones and all but one.
std::vector<KeptLevels> choices_of(const GridFigures& grid, std::size_t leaf) {
  constexpr std::size_t kFewLevels = 4;
  std::set<std::string> distinct;
  for (const auto& [combination, levels] : grid.combinations) distinct.insert(levels[leaf]);
  const std::vector<std::string> all(distinct.begin(), distinct.end());
  std::vector<KeptLevels> out;
  if (all.size() <= kFewLevels) {
    for (std::size_t subset = (std::size_t{1} << all.size()) - 2; subset > 0; --subset) {
      KeptLevels kept{leaf, {}};
      for (std::size_t i = 0; i < all.size(); ++i) {
        if ((subset >> i & 1U) != 0) kept.levels.insert(all[i]);
      }
      out.push_back(std::move(kept));
    }
    return out;
  }
  for (const std::string& level : all) {
    std::set<std::string> rest = distinct;
    rest.erase(level);
    out.push_back({leaf, std::move(rest)});
    out.push_back({leaf, {level}});
  }
  return out;
}

/// All levels of the other leaves; then choices of one of them, and of two.
std::vector<std::vector<KeptLevels>> choices_of_others(const GridFigures& grid) {
  constexpr std::size_t kMostChoices = 200;
  std::vector<KeptLevels> single;
  for (std::size_t leaf = 0; leaf < grid.others.size(); ++leaf) {
    for (KeptLevels& kept : choices_of(grid, leaf)) single.push_back(std::move(kept));
  }
  std::vector<std::vector<KeptLevels>> out(1);
  for (const KeptLevels& one : single) out.push_back({one});
  for (const KeptLevels& one : single) {
    for (const KeptLevels& other : single) {
      if (one.leaf < other.leaf) out.push_back({one, other});
    }
  }
  if (out.size() > kMostChoices) out.resize(kMostChoices);
  return out;
}

std::vector<std::string> kept_combinations(const GridFigures& grid,
                                           const std::vector<KeptLevels>& kept) {
  std::vector<std::string> out;
  for (const auto& [combination, levels] : grid.combinations) {
    const bool all = std::ranges::all_of(
        kept, [&levels](const KeptLevels& one) { return one.levels.contains(levels[one.leaf]); });
    if (all) out.push_back(combination);
  }
  return out;
}

/// Which cells have all of these combinations for which seeds.
BlockGrid<char> present_grid(const GridFigures& grid,
                             const std::vector<std::string>& combinations) {
  BlockGrid<char> out{grid.a.groups.size(), grid.levels_b(), grid.seeds.size(), {}};
  for (const GroupFigures& cell : grid.cells) {
    for (const std::int64_t seed : grid.seeds) {
      const auto at = cell.find(seed);
      const bool whole =
          at != cell.end() && std::ranges::all_of(combinations, [&at](const std::string& one) {
            return at->second.contains(one);
          });
      out.cells.push_back(whole ? 1 : 0);
    }
  }
  return out;
}

/// The filter of the largest part that is complete, by its number of cells; empty if there is none.
std::string largest_part(const GridFigures& grid) {
  const std::vector<std::int64_t> seeds(grid.seeds.begin(), grid.seeds.end());
  CompleteSubGrid best;
  std::vector<KeptLevels> best_kept;
  std::size_t most = 0;
  for (const std::vector<KeptLevels>& kept : choices_of_others(grid)) {
    const std::vector<std::string> combinations = kept_combinations(grid, kept);
    if (combinations.empty()) continue;
    CompleteSubGrid part = complete_sub_grid(present_grid(grid, combinations));
    if (part.cells() * combinations.size() <= most) continue;
    most = part.cells() * combinations.size();
    best = std::move(part);
    best_kept = kept;
  }
  if (most == 0) return {};
  std::vector<std::string> a, b, s, filter;
  for (const std::size_t i : best.a) a.push_back(grid.a.text(i));
  for (const std::size_t j : best.b) b.push_back(grid.b.groups.empty() ? "" : grid.b.text(j));
  for (const std::size_t i : best.seeds) s.push_back(fmt::format("seed = {}", seeds[i]));
  const auto add = [&filter](const std::vector<std::string>& texts, std::size_t all) {
    std::string text = choice_text(texts, all);
    if (!text.empty()) filter.push_back(std::move(text));
  };
  add(a, grid.a.groups.size());
  add(b, grid.levels_b());
  for (const KeptLevels& kept : best_kept) {
    std::vector<std::string> texts;
    for (const std::string& level : kept.levels) {
      texts.push_back(filter_term(grid.others[kept.leaf], level));
    }
    add(texts, texts.size() + 1);  // fewer than all
  }
  add(s, seeds.size());
  return fmt::format("{}", fmt::join(filter, " and "));
}

/// What is missing, and the largest part that is complete; empty if nothing is missing.
std::string incomplete_text(const GridFigures& grid) {
  constexpr std::size_t kNamed = 3;
  const std::vector<std::int64_t> seeds(grid.seeds.begin(), grid.seeds.end());
  const BlockGrid<char> present = present_grid(grid, kept_combinations(grid, {}));
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < present.levels_a; ++i) {
    for (std::size_t j = 0; j < present.levels_b; ++j) {
      for (std::size_t s = 0; s < seeds.size(); ++s) {
        if (present.cells[present.index(i, j, s)] != 0) continue;
        missing.push_back(fmt::format("{}{}, seed {}", grid.a.text(i),
                                      grid.b.groups.empty() ? "" : ", " + grid.b.text(j),
                                      seeds[s]));
      }
    }
  }
  if (missing.empty()) return {};
  std::string out =
      fmt::format("{} of {} are missing or incomplete: ", missing.size(), present.cells.size());
  const std::size_t more = missing.size() - std::min(kNamed, missing.size());
  missing.resize(missing.size() - more);
  out += fmt::format("{}", fmt::join(missing, "; "));
  if (more > 0) out += fmt::format("; and {} more", more);
  const std::string part = largest_part(grid);
  return out + (part.empty() ? "; no two levels and seeds of it are complete"
                             : fmt::format("; the largest complete part: --filter \"{}\"", part));
}

std::vector<InteractionContrast> interactions_of(const GridFigures& grid,
                                                 const BlockGrid<double>& values) {
  std::vector<InteractionContrast> out;
  const std::size_t a0 = grid.a.baseline, b0 = grid.b.baseline;
  for (std::size_t i = 0; i < values.levels_a; ++i) {
    for (std::size_t j = 0; j < values.levels_b; ++j) {
      if (i == a0 || j == b0) continue;
      std::vector<double> doubled;
      for (std::size_t s = 0; s < values.seeds; ++s) {
        const auto at = [&](std::size_t a, std::size_t b) {
          return values.cells[values.index(a, b, s)];
        };
        doubled.push_back(at(i, j) - at(a0, j) - (at(i, b0) - at(a0, b0)));
      }
      out.push_back({grid.a.groups[i].name, grid.b.groups[j].name, paired_contrast(doubled)});
    }
  }
  return out;
}

/// Why the grid has no shares; empty if it has.
std::string refusal_of(const GridFigures& grid,
                       const std::function<BasisMismatch(std::size_t, std::size_t)>& mismatch) {
  for (const GridSide* side : {&grid.a, &grid.b}) {
    if (!side->factor.empty() && side->groups.size() < 2) {
      return side->factor + " has one level here";
    }
  }
  if (grid.seeds.size() < 2) return "one seed has no spread";
  // Of cells that differ in these factors alone.
  std::map<std::pair<std::int64_t, std::string>, std::size_t> first;
  for (const GroupFigures& cell : grid.cells) {
    for (const auto& [seed, of_seed] : cell) {
      for (const auto& [combination, figure] : of_seed) {
        const auto [at, fresh] = first.emplace(std::pair(seed, combination), figure.row);
        if (fresh) continue;
        if (const BasisMismatch found = mismatch(figure.row, at->second)) {
          return "cells cannot be compared: " + found.text_and_advice("elsewhere");
        }
      }
    }
  }
  return incomplete_text(grid);
}

}  // namespace

CompleteBlocks complete_blocks(std::span<const GroupFigures> figures, std::size_t levels_a,
                               std::size_t levels_b) {
  CompleteBlocks out;
  std::vector<std::vector<double>> columns;  // by seed: of each group
  if (figures.empty()) return out;
  for (const auto& [seed, first] : figures.front()) {
    std::vector<double> sums(figures.size(), 0);
    std::size_t n = 0;
    for (const auto& [combination, figure] : first) {
      std::vector<double> values;
      for (const GroupFigures& group : figures) {
        const auto at = group.find(seed);
        if (at == group.end()) break;
        const auto own = at->second.find(combination);
        if (own == at->second.end()) break;
        values.push_back(own->second.value);
      }
      if (values.size() < figures.size()) continue;
      out.combinations.insert(combination);
      ++n;
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
    }
    if (n == 0) continue;
    for (double& sum : sums) sum /= static_cast<double>(n);
    columns.push_back(std::move(sums));
    out.seeds.push_back(seed);
  }
  out.values = {levels_a, levels_b, out.seeds.size(), {}};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (const std::vector<double>& column : columns) out.values.cells.push_back(column[i]);
  }
  return out;
}

VarianceTable variance_table(
    const Listing& listing, const std::vector<std::size_t>& rows,
    const std::array<std::string, 2>& factors, const std::array<std::string, 2>& baselines,
    const std::function<double(std::size_t row)>& figure,
    const std::function<BasisMismatch(std::size_t, std::size_t)>& mismatch) {
  const GridFigures grid = grid_figures(listing, rows, factors, baselines, figure);
  VarianceTable out;
  out.a = factors[0];
  out.b = factors[1];
  out.levels_a = grid.a.names();
  out.levels_b = grid.b.names();
  out.refused = refusal_of(grid, mismatch);
  if (!out.refused.empty()) return out;
  CompleteBlocks blocks = complete_blocks(grid.cells, grid.a.groups.size(), grid.levels_b());
  out.effects = two_way_effects(blocks.values);
  if (!out.b.empty()) out.interactions = interactions_of(grid, blocks.values);
  out.seeds = std::move(blocks.seeds);
  return out;
}

}  // namespace depthgrid
