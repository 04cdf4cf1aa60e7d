#include "sweeps/compare/seed_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace depthgrid {
namespace {

using FiguresOfSeed = std::map<std::string, CellFigure>;

/// Combinations that some seed has.
std::set<std::string> known_combinations(const GroupFigures& figures) {
  std::set<std::string> out;
  for (const auto& [seed, of_seed] : figures) {
    for (const auto& [combination, figure] : of_seed) out.insert(combination);
  }
  return out;
}

/// The figures of a seed at these combinations, as far as they are there.
std::vector<CellFigure> figures_among(const FiguresOfSeed& of_seed,
                                      const std::vector<std::string>& combinations) {
  std::vector<CellFigure> out;
  for (const std::string& combination : combinations) {
    const auto at = of_seed.find(combination);
    if (at != of_seed.end()) out.push_back(at->second);
  }
  return out;
}

void add_weighted(const std::vector<CellFigure>& figures, std::vector<WeightedRow>& rows,
                  double& sum) {
  double total = 0;
  for (const CellFigure& figure : figures) {
    total += figure.value;
    rows.push_back({figure.row, 1 / static_cast<double>(figures.size())});
  }
  sum += total / static_cast<double>(figures.size());
}

/// One seed of both groups.
struct PairOfSeed {
  PairRows rows;
  double mine = 0, theirs = 0;  // sums over the complete ones of the paired combinations
  std::size_t n = 0;            // how many these are
  std::vector<CellFigure> incomplete_mine, incomplete_theirs;
  BasisMismatch refused;
};

PairOfSeed pair_of_seed(const FiguresOfSeed& mine, const FiguresOfSeed& theirs,
                        const std::vector<PairedCombinations>& paired,
                        const std::function<BasisMismatch(std::size_t, std::size_t)>& mismatch) {
  PairOfSeed out;
  for (const PairedCombinations& one : paired) {
    const std::vector<CellFigure> a = figures_among(mine, one.mine);
    const std::vector<CellFigure> b = figures_among(theirs, one.theirs);
    if (a.size() < one.mine.size() || b.size() < one.theirs.size() || a.empty() || b.empty()) {
      out.incomplete_mine.insert(out.incomplete_mine.end(), a.begin(), a.end());
      out.incomplete_theirs.insert(out.incomplete_theirs.end(), b.begin(), b.end());
      continue;
    }
    for (const CellFigure& own : a) {
      for (const CellFigure& other : b) {
        if ((out.refused = mismatch(own.row, other.row))) return out;
      }
    }
    add_weighted(a, out.rows.mine, out.mine);
    add_weighted(b, out.rows.theirs, out.theirs);
    ++out.n;
  }
  for (std::vector<WeightedRow>* rows : {&out.rows.mine, &out.rows.theirs}) {
    for (WeightedRow& row : *rows) row.weight /= static_cast<double>(out.n);
  }
  return out;
}

/// Adds the rows of figures that no complete pair has, each once.
void add_unpaired(const std::vector<CellFigure>& incomplete, const std::vector<WeightedRow>& used,
                  std::vector<std::size_t>& out) {
  const std::size_t first = out.size();
  for (const CellFigure& figure : incomplete) {
    const bool known = std::ranges::find(used, figure.row, &WeightedRow::row) != used.end() ||
                       std::find(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                 figure.row) != out.end();
    if (!known) out.push_back(figure.row);
  }
}

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
  const std::size_t all = known_combinations(figures).size();
  std::map<std::int64_t, double> out;
  for (const auto& [seed, of_seed] : figures) {
    if (of_seed.size() < all) continue;
    double sum = 0;
    for (const auto& [combination, figure] : of_seed) sum += figure.value;
    out[seed] = sum / static_cast<double>(all);
  }
  return out;
}

std::vector<double> averages_of(const GroupFigures& figures) {
  std::vector<double> out;
  for (const auto& [seed, value] : seed_averages(figures)) out.push_back(value);
  return out;
}

std::vector<std::size_t> rows_of(const GroupFigures& figures) {
  std::vector<std::size_t> out;
  for (const auto& [seed, of_seed] : figures) {
    for (const auto& [combination, figure] : of_seed) out.push_back(figure.row);
  }
  return out;
}

std::vector<double> SeedPairs::differences() const {
  std::vector<double> out(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) out[i] = mine[i] - theirs[i];
  return out;
}

std::vector<PairedCombinations> equal_combinations(const GroupFigures& mine,
                                                   const GroupFigures& theirs) {
  std::set<std::string> all = known_combinations(mine);
  all.merge(known_combinations(theirs));
  std::vector<PairedCombinations> out;
  for (const std::string& combination : all) out.push_back({{combination}, {combination}});
  return out;
}

std::vector<PairedCombinations> whole_groups(const GroupFigures& mine, const GroupFigures& theirs) {
  const std::set<std::string> a = known_combinations(mine), b = known_combinations(theirs);
  return {{{a.begin(), a.end()}, {b.begin(), b.end()}}};
}

SeedPairs seed_pairs(const GroupFigures& mine, const GroupFigures& theirs,
                     const std::vector<PairedCombinations>& paired,
                     const std::function<BasisMismatch(std::size_t, std::size_t)>& mismatch) {
  SeedPairs out;
  for (const auto& [seed, own] : mine) {
    const auto at = theirs.find(seed);
    if (at == theirs.end()) {
      out.left_out.push_back(seed);
      continue;
    }
    PairOfSeed pair = pair_of_seed(own, at->second, paired, mismatch);
    if (pair.refused) {
      SeedPairs none;
      none.refused = std::move(pair.refused);
      return none;
    }
    add_unpaired(pair.incomplete_mine, pair.rows.mine, out.unpaired);
    add_unpaired(pair.incomplete_theirs, pair.rows.theirs, out.unpaired);
    if (pair.n == 0) continue;
    out.combinations = std::max(out.combinations, pair.rows.mine.size());
    out.seeds.push_back(seed);
    out.mine.push_back(pair.mine / static_cast<double>(pair.n));
    out.theirs.push_back(pair.theirs / static_cast<double>(pair.n));
    out.rows.push_back(std::move(pair.rows));
  }
  for (const auto& [seed, other] : theirs) {
    if (!mine.contains(seed)) out.baseline_left_out.push_back(seed);
  }
  return out;
}

}  // namespace depthgrid
