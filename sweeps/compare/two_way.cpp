#include "sweeps/compare/two_way.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <tuple>

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr double kNoError = 1e-24;   // of the mean square of the values: less is rounding
constexpr double kRounding = 1e-14;  // of the total squares: what is left where squares cancel
constexpr std::size_t kPageLevels = 8;
constexpr std::size_t kPageSeeds = 50;

template <typename Number>
void require_full_grid(const BlockGrid<Number>& grid) {
  if (grid.cells.size() != grid.levels_a * grid.levels_b * grid.seeds) {
    throw Error("a grid has as many numbers as cells");
  }
}

bool is_finite_grid(const BlockGrid<double>& grid) {
  return std::ranges::all_of(grid.cells, [](double x) { return std::isfinite(x); });
}

/// Of each cell, the mean of all that share its level of the axes kept, less the mean of all.
std::vector<double> block_means(const BlockGrid<double>& grid, bool keep_a, bool keep_b,
                                bool keep_s) {
  const std::size_t cells = grid.cells.size();
  const double centre =
      std::accumulate(grid.cells.begin(), grid.cells.end(), 0.0) / static_cast<double>(cells);
  const auto representative = [&](std::size_t cell) {
    const std::size_t s = cell % grid.seeds;
    const std::size_t b = cell / grid.seeds % grid.levels_b;
    const std::size_t a = cell / grid.seeds / grid.levels_b;
    return grid.index(keep_a ? a : 0, keep_b ? b : 0, keep_s ? s : 0);
  };
  std::vector<double> sums(cells, 0);
  std::vector<double> counts(cells, 0);
  for (std::size_t i = 0; i < cells; ++i) {
    sums[representative(i)] += grid.cells[i] - centre;
    ++counts[representative(i)];
  }
  std::vector<double> out(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    out[i] = sums[representative(i)] / counts[representative(i)];
  }
  return out;
}

/// Σ over cells of (Σ added means − Σ subtracted means)².
double squares_of(std::initializer_list<const std::vector<double>*> added,
                  std::initializer_list<const std::vector<double>*> subtracted) {
  double squares = 0;
  for (std::size_t i = 0; i < (*added.begin())->size(); ++i) {
    double x = 0;
    for (const auto* means : added) x += (*means)[i];
    for (const auto* means : subtracted) x -= (*means)[i];
    squares += x * x;
  }
  return squares;
}

/// @param floor  squares below which there is no variance.
BlockEffect block_effect(double squares, double degrees, double error_squares,
                         const TwoWayEffects& whole, double floor) {
  BlockEffect out;
  if (degrees == 0) return out;
  out.squares = squares;
  out.degrees = degrees;
  out.error_squares = error_squares;
  out.error_degrees = degrees * whole.seed_degrees;
  if (whole.total_squares > floor) {
    out.eta2 = squares / whole.total_squares;
    if (squares + error_squares > floor) out.partial_eta2 = squares / (squares + error_squares);
  }
  const double error = error_squares / out.error_degrees;
  if (!(out.error_degrees > 0 && error > floor)) return out;
  out.f = squares / degrees / error;
  out.p = boost::math::cdf(
      boost::math::complement(boost::math::fisher_f(degrees, out.error_degrees), out.f));
  const double beyond = squares - degrees * error;  // what cancels leaves rounding of the sums
  out.omega2 = std::fabs(beyond) <= std::max(floor, kRounding * whole.total_squares)
                   ? 0
                   : beyond / (whole.total_squares + whole.seed_squares / whole.seed_degrees);
  return out;
}

using Sides = std::array<std::vector<std::size_t>, 3>;  // kept levels of A, of B, seeds

/// A grid of what is there, its sides numbered 0 = A, 1 = B, 2 = seeds.
struct PresentGrid {
  const BlockGrid<char>& grid;
  std::array<std::size_t, 3> size;
  std::array<std::size_t, 3> least;

  bool has(const std::array<std::size_t, 3>& at) const {
    return grid.cells[grid.index(at[0], at[1], at[2])] != 0;
  }
};

/// Cells, seeds, levels of A: a larger rank is a better sub-grid.
std::tuple<std::size_t, std::size_t, std::size_t> sub_grid_rank(
    const std::array<std::size_t, 3>& count) {
  return {count[0] * count[1] * count[2], count[2], count[0]};
}

std::vector<std::size_t> bits_of(std::uint64_t mask) {
  std::vector<std::size_t> out;
  for (; mask != 0; mask &= mask - 1) {
    out.push_back(static_cast<std::size_t>(std::countr_zero(mask)));
  }
  return out;
}

/// All subsets of the sides x and y; the levels of z that they leave complete are a mask.
Sides enumerated_sub_grid(const PresentGrid& present, std::size_t x, std::size_t y, std::size_t z) {
  const std::size_t subsets_x = std::size_t{1} << present.size[x];
  const std::size_t subsets_y = std::size_t{1} << present.size[y];
  std::vector<std::vector<std::uint64_t>> there(present.size[x],
                                                std::vector<std::uint64_t>(present.size[y], 0));
  std::array<std::size_t, 3> at{};
  for (at[x] = 0; at[x] < present.size[x]; ++at[x]) {
    for (at[y] = 0; at[y] < present.size[y]; ++at[y]) {
      for (at[z] = 0; at[z] < present.size[z]; ++at[z]) {
        if (present.has(at)) there[at[x]][at[y]] |= std::uint64_t{1} << at[z];
      }
    }
  }
  std::array<std::uint64_t, 3> best{};
  std::array<std::size_t, 3> best_count{};
  std::vector<std::uint64_t> of_y(present.size[y]);
  std::vector<std::uint64_t> complete(subsets_y);
  for (std::size_t in_x = 1; in_x < subsets_x; ++in_x) {
    std::array<std::size_t, 3> count{};
    count[x] = static_cast<std::size_t>(std::popcount(in_x));
    if (count[x] < present.least[x]) continue;
    std::ranges::fill(of_y, ~std::uint64_t{0});
    for (const std::size_t i : bits_of(in_x)) {
      for (std::size_t j = 0; j < of_y.size(); ++j) of_y[j] &= there[i][j];
    }
    complete[0] = ~std::uint64_t{0};
    for (std::size_t in_y = 1; in_y < subsets_y; ++in_y) {
      complete[in_y] =
          complete[in_y & (in_y - 1)] & of_y[static_cast<std::size_t>(std::countr_zero(in_y))];
      count[y] = static_cast<std::size_t>(std::popcount(in_y));
      count[z] = static_cast<std::size_t>(std::popcount(complete[in_y]));
      if (count[y] < present.least[y] || count[z] < present.least[z]) continue;
      if (sub_grid_rank(count) <= sub_grid_rank(best_count)) continue;
      best_count = count;
      best[x] = in_x;
      best[y] = in_y;
      best[z] = complete[in_y];
    }
  }
  return {bits_of(best[0]), bits_of(best[1]), bits_of(best[2])};
}

/// How many of the kept cells with `level` on a side are missing.
std::size_t missing_with(const PresentGrid& present, Sides kept, std::size_t side,
                         std::size_t level) {
  kept[side] = {level};
  std::size_t missing = 0;
  for (const std::size_t a : kept[0]) {
    for (const std::size_t b : kept[1]) {
      for (const std::size_t s : kept[2]) missing += present.has({a, b, s}) ? 0 : 1;
    }
  }
  return missing;
}

Sides greedy_sub_grid(const PresentGrid& present) {
  Sides kept;
  for (std::size_t side = 0; side < 3; ++side) {
    kept[side].resize(present.size[side]);
    std::iota(kept[side].begin(), kept[side].end(), 0);
  }
  while (true) {
    bool complete = true;
    double worst = 0;
    std::size_t from = 0;
    std::size_t which = 0;
    for (std::size_t side = 0; side < 3; ++side) {
      const std::size_t slice =
          kept[0].size() * kept[1].size() * kept[2].size() / kept[side].size();
      for (std::size_t i = kept[side].size(); i-- > 0;) {  // of equals, the last one goes
        const std::size_t missing = missing_with(present, kept, side, kept[side][i]);
        const double share = static_cast<double>(missing) / static_cast<double>(slice);
        complete = complete && missing == 0;
        if (share <= worst || kept[side].size() <= present.least[side]) continue;
        worst = share;
        from = side;
        which = i;
      }
    }
    if (complete) break;
    if (worst == 0) return {};  // all sides are at their least
    kept[from].erase(kept[from].begin() + static_cast<std::ptrdiff_t>(which));
  }
  for (std::size_t side = 0; side < 3; ++side) {
    for (std::size_t level = 0; level < present.size[side]; ++level) {
      const auto place = std::ranges::lower_bound(kept[side], level);
      if (place != kept[side].end() && *place == level) continue;
      if (missing_with(present, kept, side, level) == 0) kept[side].insert(place, level);
    }
  }
  return kept;
}

/// Mid-ranks 1 … k of the values; sets `ties` if some are equal.
std::vector<double> mid_ranks(const std::vector<double>& values, bool& ties) {
  std::vector<double> ranks;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [=](double x) { return x < value; });
    const auto equal = std::ranges::count(values, value);
    ties = ties || equal > 1;
    ranks.push_back(static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2);
  }
  return ranks;
}

/// Probabilities by the sum Σ_j j r_j of one seed over all k! orders of its ranks. Levels get the
/// ranks 1, 2, … one after the other, so that only the set of levels that have one matters.
std::vector<double> page_of_one_seed(std::size_t levels) {
  const std::size_t largest = levels * (levels + 1) * (2 * levels + 1) / 6;
  std::vector<std::vector<double>> of_set(std::size_t{1} << levels,
                                          std::vector<double>(largest + 1, 0));
  of_set[0][0] = 1;
  for (std::size_t set = 0; set + 1 < of_set.size(); ++set) {
    const auto ranked = static_cast<std::size_t>(std::popcount(set));
    for (std::size_t level = 0; level < levels; ++level) {
      if ((set >> level & 1U) != 0) continue;
      const std::size_t more = (ranked + 1) * (level + 1);
      std::vector<double>& next = of_set[set | std::size_t{1} << level];
      for (std::size_t sum = 0; sum + more <= largest; ++sum) {
        next[sum + more] += of_set[set][sum] / static_cast<double>(levels - ranked);
      }
    }
  }
  return of_set.back();
}

/// Sets the exact p of rising and falling.
void set_exact_page(MonotoneTrend& out, std::size_t levels, std::size_t seeds) {
  const std::vector<double> one = page_of_one_seed(levels);
  std::vector<double> all = {1};
  for (std::size_t s = 0; s < seeds; ++s) {
    std::vector<double> next(all.size() + one.size() - 1, 0);
    for (std::size_t more = 0; more < one.size(); ++more) {
      if (one[more] == 0) continue;
      for (std::size_t sum = 0; sum < all.size(); ++sum) next[sum + more] += all[sum] * one[more];
    }
    all = std::move(next);
  }
  out.exact = true;
  const auto l = static_cast<std::ptrdiff_t>(std::lround(out.page_l));
  out.p_rising = std::accumulate(all.begin() + l, all.end(), 0.0);
  out.p_falling = std::accumulate(all.begin(), all.begin() + l + 1, 0.0);
}

}  // namespace

TwoWayEffects two_way_effects(const BlockGrid<double>& values) {
  require_full_grid(values);
  TwoWayEffects out;
  if (values.cells.empty() || !is_finite_grid(values)) return out;
  const auto a = block_means(values, true, false, false);
  const auto b = block_means(values, false, true, false);
  const auto s = block_means(values, false, false, true);
  const auto ab = block_means(values, true, true, false);
  const auto as = block_means(values, true, false, true);
  const auto bs = block_means(values, false, true, true);
  const auto y = block_means(values, true, true, true);
  const auto degrees_a = static_cast<double>(values.levels_a - 1);
  const auto degrees_b = static_cast<double>(values.levels_b - 1);
  double size = 0;
  for (const double x : values.cells) size += x * x;
  const double floor = kNoError * size / static_cast<double>(values.cells.size());
  out.seed_degrees = static_cast<double>(values.seeds - 1);
  out.seed_squares = squares_of({&s}, {});
  out.total_squares = squares_of({&y}, {});
  out.a = block_effect(squares_of({&a}, {}), degrees_a, squares_of({&as}, {&a, &s}), out, floor);
  out.b = block_effect(squares_of({&b}, {}), degrees_b, squares_of({&bs}, {&b, &s}), out, floor);
  out.interaction = block_effect(squares_of({&ab}, {&a, &b}), degrees_a * degrees_b,
                                 squares_of({&y, &a, &b, &s}, {&ab, &as, &bs}), out, floor);
  return out;
}

CompleteSubGrid complete_sub_grid(const BlockGrid<char>& present, SubGridMinimum minimum) {
  require_full_grid(present);
  CompleteSubGrid out;
  if (present.cells.empty()) return out;
  const auto least = [](std::size_t wanted, std::size_t there) {
    return std::min(std::max<std::size_t>(wanted, 1), there);
  };
  const PresentGrid all{
      .grid = present,
      .size = {present.levels_a, present.levels_b, present.seeds},
      .least = {least(minimum.levels, present.levels_a), least(minimum.levels, present.levels_b),
                least(minimum.seeds, present.seeds)}};
  std::array<std::size_t, 3> sides = {0, 1, 2};
  std::ranges::stable_sort(sides, {}, [&](std::size_t side) { return all.size[side]; });
  const auto [x, y, z] = sides;
  out.exact = all.size[z] <= 64 && all.size[x] + all.size[y] <=
                                       static_cast<std::size_t>(std::countr_zero(kExactSubsets));
  Sides kept = out.exact ? enumerated_sub_grid(all, x, y, z) : greedy_sub_grid(all);
  out.a = std::move(kept[0]);
  out.b = std::move(kept[1]);
  out.seeds = std::move(kept[2]);
  return out;
}

MonotoneTrend monotone_trend(const BlockGrid<double>& values, std::span<const double> scores,
                             double confidence) {
  require_full_grid(values);
  const std::size_t levels = values.levels_a;
  if (values.levels_b != 1) throw Error("a trend is over one factor");
  std::vector<double> x(scores.begin(), scores.end());
  if (x.empty()) {
    x.resize(levels);
    std::iota(x.begin(), x.end(), 0);
  }
  const auto descends = [](double first, double second) { return !(first < second); };
  if (x.size() != levels || std::ranges::adjacent_find(x, descends) != x.end()) {
    throw Error("a trend needs a score for each level, in ascending order");
  }
  MonotoneTrend out;
  if (levels < 2 || values.seeds == 0 || !is_finite_grid(values)) return out;
  const auto k = static_cast<double>(levels);
  const auto n = static_cast<double>(values.seeds);
  const double centre = std::accumulate(x.begin(), x.end(), 0.0) / k;
  double squares = 0;
  for (double& score : x) {
    score -= centre;
    squares += score * score;
  }
  std::vector<double> slopes;
  bool ties = false;
  out.page_l = 0;
  for (std::size_t s = 0; s < values.seeds; ++s) {
    std::vector<double> column(levels);
    for (std::size_t i = 0; i < levels; ++i) column[i] = values.cells[values.index(i, 0, s)];
    slopes.push_back(std::inner_product(x.begin(), x.end(), column.begin(), 0.0) / squares);
    const std::vector<double> ranks = mid_ranks(column, ties);
    for (std::size_t i = 0; i < levels; ++i) out.page_l += static_cast<double>(i + 1) * ranks[i];
  }
  out.slope = paired_contrast(slopes, confidence);
  out.z =
      (out.page_l - n * k * (k + 1) * (k + 1) / 4) / (k * (k + 1) * std::sqrt(n * (k - 1) / 144));
  if (values.seeds < 2) return out;
  if (!ties && levels <= kPageLevels && values.seeds <= kPageSeeds) {
    set_exact_page(out, levels, values.seeds);
  } else {
    const boost::math::normal normal;
    out.p_rising = boost::math::cdf(boost::math::complement(normal, out.z));
    out.p_falling = boost::math::cdf(normal, out.z);
  }
  out.p = std::min(1.0, 2 * std::min(out.p_rising, out.p_falling));
  return out;
}

}  // namespace depthgrid
