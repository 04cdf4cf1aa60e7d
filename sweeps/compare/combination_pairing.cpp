#include "sweeps/compare/combination_pairing.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/report/level_text.hpp"

namespace depthgrid {
namespace {

/// Combinations of a group, each with a cell that has it.
using CellByCombination = std::map<std::string, std::size_t>;

CellByCombination combinations_of(const Design& design, const ComparedGroup& group) {
  CellByCombination out;
  for (const std::size_t row : group.cells) out.emplace(design.combination[row], row);
  return out;
}

/// Levels of a leaf among some cells, as JSON and as a person writes them; cells that do not read
/// it have none.
std::map<std::string, std::string> levels_among(const Listing& listing,
                                                const CellByCombination& cells,
                                                const std::string& leaf) {
  std::map<std::string, std::string> out;
  for (const auto& [combination, row] : cells) {
    const Value* const level = level_of(listing, row, leaf);
    if (level != nullptr) out.emplace(canonical_json(*level), level_text(*level));
  }
  return out;
}

/// Whether two cells have one value of each of these leaves.
bool agrees(const Listing& listing, std::size_t a, std::size_t b,
            const std::vector<std::string>& leaves) {
  return std::ranges::all_of(leaves, [&](const std::string& leaf) {
    const Value* const one = level_of(listing, a, leaf);
    const Value* const other = level_of(listing, b, leaf);
    return one == nullptr || other == nullptr || *one == *other;
  });
}

/// Those that some seed has a figure of, if there are any.
std::vector<std::string> with_figures(const std::vector<std::string>& combinations,
                                      const GroupFigures& figures) {
  std::vector<std::string> out;
  for (const std::string& one : combinations) {
    const bool any = std::ranges::any_of(
        figures, [&one](const auto& of_seed) { return of_seed.second.contains(one); });
    if (any) out.push_back(one);
  }
  return out.empty() ? combinations : out;
}

/// An arm without the leaf, and a group at one of its levels.
struct ArmAndLevel {
  const ComparedGroup& arm;
  const ComparedGroup& level;
  CellByCombination of_arm, of_level;
  std::vector<std::string> shared;  // leaves in which each cell of the arm has a value of the level
  std::vector<std::string> averaged;  // others that vary over the level's cells
};

ArmAndLevel arm_and_level(const Listing& listing, const Design& design, const ComparedGroup& arm,
                          const ComparedGroup& level) {
  ArmAndLevel out{.arm = arm,
                  .level = level,
                  .of_arm = combinations_of(design, arm),
                  .of_level = combinations_of(design, level),
                  .shared = {},
                  .averaged = {}};
  for (const std::string& leaf : design.others) {
    const auto own = levels_among(listing, out.of_arm, leaf);
    const auto there = levels_among(listing, out.of_level, leaf);
    const bool known =
        std::ranges::all_of(own, [&there](const auto& one) { return there.contains(one.first); });
    if (!own.empty() && known) {
      out.shared.push_back(leaf);
    } else if (there.size() > 1) {
      out.averaged.push_back(leaf);
    }
  }
  return out;
}

/// The combinations of the level that agree with each one of the arm; empty if one has none.
std::map<std::string, std::vector<std::string>> agreeing_combinations(const Listing& listing,
                                                                      const ArmAndLevel& of) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& [own, row] : of.of_arm) {
    std::vector<std::string> found;
    for (const auto& [other, other_row] : of.of_level) {
      if (agrees(listing, row, other_row, of.shared)) found.push_back(other);
    }
    if (found.empty()) return {};
    out.emplace(own, std::move(found));
  }
  return out;
}

/// "train.lr = 0.1, model.scale"; with the values where the arm has one of each.
std::string shared_text(const Listing& listing, const ArmAndLevel& of) {
  std::vector<std::string> out;
  for (const std::string& leaf : of.shared) {
    const auto levels = levels_among(listing, of.of_arm, leaf);
    out.push_back(levels.size() == 1 ? fmt::format("{} = {}", leaf, levels.begin()->second) : leaf);
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

CombinationPairing combination_pairing(const Listing& listing, const Design& design,
                                       const ComparedGroup& mine, const GroupFigures& figures_mine,
                                       const ComparedGroup& theirs,
                                       const GroupFigures& figures_theirs) {
  CombinationPairing out;
  if (mine.level.has_value() == theirs.level.has_value()) {
    out.paired = equal_combinations(figures_mine, figures_theirs);
    return out;
  }
  const bool arm_is_mine = !mine.level;
  const ArmAndLevel of =
      arm_and_level(listing, design, arm_is_mine ? mine : theirs, arm_is_mine ? theirs : mine);
  const std::string side =
      fmt::format("compared {} the mean of {}", arm_is_mine ? "with" : "as", of.level.name);
  const auto agreeing = of.shared.empty() ? std::map<std::string, std::vector<std::string>>()
                                          : agreeing_combinations(listing, of);
  if (agreeing.empty()) {
    out.paired = whole_groups(figures_mine, figures_theirs);
    if (of.of_level.size() < 2 && of.shared.empty()) return out;
    out.note =
        fmt::format("{} over all combinations of {}: ", side, fmt::join(design.others, ", "));
    out.note += of.shared.empty() ? fmt::format("{} shares no value of these", of.arm.name)
                                  : fmt::format("none agrees with {} in {} at once", of.arm.name,
                                                shared_text(listing, of));
    return out;
  }
  const GroupFigures& figures_level = arm_is_mine ? figures_theirs : figures_mine;
  for (const auto& [own, others] : agreeing) {
    PairedCombinations one{{own}, with_figures(others, figures_level)};
    if (!arm_is_mine) std::swap(one.mine, one.theirs);
    out.paired.push_back(std::move(one));
  }
  if (of.of_level.size() < 2) return out;
  out.note = fmt::format("{} at {}, as {} has {}", side, shared_text(listing, of), of.arm.name,
                         of.shared.size() == 1 ? "it" : "them");
  if (!of.averaged.empty()) {
    out.note += fmt::format(", over all levels of {}", fmt::join(of.averaged, ", "));
  }
  return out;
}

}  // namespace depthgrid
