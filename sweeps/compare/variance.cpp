#include "sweeps/compare/variance.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace depthgrid {
namespace {

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
  /// "hidden = 64", as a filter reads it.
  std::string text(std::size_t level) const {
    const ComparedGroup& group = groups[level];
    const std::string& name = group.name;
    // What has no tag is known by its arm.
    const std::string_view by =
        factor == "tag" && group.tag.empty() ? std::string_view("arm") : factor;
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
    const bool plain = name.find_first_not_of(kPlain) == name.npos;
    return fmt::format("{} = {}", by, plain ? name : "'" + name + "'");
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
  std::size_t combinations = 1;  // that a whole cell has

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
  std::set<std::string> all;
  for (const std::size_t row : rows) {
    const auto i = level_index(out.a, row);
    const auto j = factors[1].empty() ? std::optional<std::size_t>(0) : level_index(out.b, row);
    if (!i || !j) continue;
    ValueMap choice;
    for (const std::string& leaf : design.others) {
      if (const Value* value = level_of(listing, row, leaf)) choice.emplace_back(leaf, *value);
    }
    design.combination[row] = canonical_json(Value(std::move(choice)));
    all.insert(design.combination[row]);
    members[*i * out.levels_b() + *j].cells.push_back(row);
    out.seeds.insert(listing.cells[row].seed);
  }
  out.combinations = std::max<std::size_t>(1, all.size());
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

/// What is missing, and the largest part that is complete; empty if nothing is missing.
std::string incomplete_text(const GridFigures& grid) {
  constexpr std::size_t kNamed = 3;
  const std::vector<std::int64_t> seeds(grid.seeds.begin(), grid.seeds.end());
  BlockGrid<char> present{grid.a.groups.size(), grid.levels_b(), seeds.size(), {}};
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < present.levels_a; ++i) {
    for (std::size_t j = 0; j < present.levels_b; ++j) {
      const GroupFigures& cell = grid.cells[i * present.levels_b + j];
      for (const std::int64_t seed : seeds) {
        const auto at = cell.find(seed);
        const bool whole = at != cell.end() && at->second.size() == grid.combinations;
        present.cells.push_back(whole ? 1 : 0);
        if (whole) continue;
        missing.push_back(fmt::format("{}{}, seed {}", grid.a.text(i),
                                      grid.b.groups.empty() ? "" : ", " + grid.b.text(j), seed));
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
  const CompleteSubGrid part = complete_sub_grid(present);
  if (part.cells() == 0) return out + "; no two levels and seeds of it are complete";
  std::vector<std::string> a, b, s, filter;
  for (const std::size_t i : part.a) a.push_back(grid.a.text(i));
  for (const std::size_t j : part.b) b.push_back(grid.b.groups.empty() ? "" : grid.b.text(j));
  for (const std::size_t i : part.seeds) s.push_back(fmt::format("seed = {}", seeds[i]));
  for (const std::string& text : {choice_text(a, present.levels_a),
                                  choice_text(b, present.levels_b), choice_text(s, seeds.size())}) {
    if (!text.empty()) filter.push_back(text);
  }
  return out +
         fmt::format("; the largest complete part: --filter \"{}\"", fmt::join(filter, " and "));
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
        if (const BasisMismatch found = mismatch(at->second, figure.row)) {
          return "cells cannot be compared: " + found.text() +
                 (found.advice.empty() ? "" : "; " + found.advice);
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
