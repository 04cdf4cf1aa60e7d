#include "sweeps/compare/seed_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace depthgrid {
namespace {

/// Number of combinations that some seed has.
std::size_t all_combinations(const GroupFigures& figures) {
  std::set<std::string_view> out;
  for (const auto& [seed, of_seed] : figures) {
    for (const auto& [combination, figure] : of_seed) out.insert(combination);
  }
  return out.size();
}

/// Sums of one seed over its complete combinations.
struct SeedSums {
  double mine = 0, theirs = 0;
  std::size_t n = 0;
};

}  // namespace

GroupFigures group_figures(const Listing& listing, const Design& design, const ComparedGroup& group,
                           const std::function<double(std::size_t row)>& value) {
  GroupFigures out;
  for (const std::size_t row : group.cells) {
    const CellSummary& cell = listing.cells[row];
    if (cell.status != CellStatus::Completed) continue;
    const double number = value(row);
    if (!std::isnan(number)) {
      out[cell.seed].emplace(design.combination[row], CellFigure{row, number});
    }
  }
  return out;
}

std::map<std::int64_t, double> seed_averages(const GroupFigures& figures) {
  const std::size_t all = all_combinations(figures);
  std::map<std::int64_t, double> out;
  for (const auto& [seed, of_seed] : figures) {
    if (of_seed.size() < all) continue;
    double sum = 0;
    for (const auto& [combination, figure] : of_seed) sum += figure.value;
    out[seed] = sum / static_cast<double>(all);
  }
  return out;
}

std::vector<double> SeedPairs::differences() const {
  std::vector<double> out(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) out[i] = mine[i] - theirs[i];
  return out;
}

SeedPairs seed_pairs(const GroupFigures& mine, const GroupFigures& theirs, bool by_combination,
                     const std::function<BasisMismatch(std::size_t, std::size_t)>& mismatch) {
  SeedPairs out;
  const std::size_t all_mine = all_combinations(mine), all_theirs = all_combinations(theirs);
  for (const auto& [seed, own] : mine) {
    const auto at = theirs.find(seed);
    if (at == theirs.end()) {
      out.left_out.push_back(seed);
      continue;
    }
    const auto& other = at->second;
    SeedSums sums;
    const bool whole = own.size() == all_mine && other.size() == all_theirs;
    for (const auto& [combination, figure] : own) {
      const auto partner = by_combination ? other.find(combination) : other.begin();
      if (partner == other.end() || (!by_combination && !whole)) {
        out.unpaired.push_back(figure.row);
        continue;
      }
      for (auto at_there = partner; at_there != other.end(); ++at_there) {
        if (BasisMismatch found = mismatch(figure.row, at_there->second.row)) {
          SeedPairs none;
          none.refused = std::move(found);
          return none;
        }
        if (by_combination) break;
      }
      ++sums.n;
      sums.mine += figure.value;
      if (by_combination) sums.theirs += partner->second.value;
    }
    for (const auto& [combination, figure] : other) {
      if (by_combination ? !own.contains(combination) : !whole) {
        out.unpaired.push_back(figure.row);
      } else if (!by_combination) {
        sums.theirs += figure.value;
      }
    }
    if (sums.n == 0) continue;
    const auto n = static_cast<double>(sums.n);
    out.combinations = std::max(out.combinations, sums.n);
    out.seeds.push_back(seed);
    out.mine.push_back(sums.mine / n);
    out.theirs.push_back(sums.theirs / (by_combination ? n : static_cast<double>(all_theirs)));
  }
  for (const auto& [seed, other] : theirs) {
    if (!mine.contains(seed)) out.baseline_left_out.push_back(seed);
  }
  return out;
}

}  // namespace depthgrid
