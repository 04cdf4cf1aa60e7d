#include "core/data/labels/likelihood_auc.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

/// Cases in the order of their scores, and where equal ones end.
struct Ranked {
  std::vector<std::size_t> order;   // indices of cases
  std::vector<std::size_t> groups;  // ends of runs of equal scores in `order`
};

Ranked ranked(std::span<const double> scores, std::span<const std::int8_t> positive) {
  Ranked out;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i]) && positive[i] >= 0) out.order.push_back(i);
  }
  std::ranges::stable_sort(out.order, {}, [&](std::size_t i) { return scores[i]; });
  for (std::size_t i = 0; i < out.order.size(); ++i) {
    const bool last = i + 1 == out.order.size();
    if (last || scores[out.order[i]] != scores[out.order[i + 1]]) out.groups.push_back(i + 1);
  }
  return out;
}

/// AUC of cases that count `weight` times each.
double weighted_area(const Ranked& cases, std::span<const std::int8_t> positive,
                     const std::vector<double>& weight) {
  double below = 0, wins = 0, positives = 0, negatives = 0;  // negatives that score less
  std::size_t begin = 0;
  for (const std::size_t end : cases.groups) {
    double up = 0, down = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t at = cases.order[i];
      (positive[at] > 0 ? up : down) += weight[at];
    }
    wins += up * (below + down / 2);
    below += down;
    positives += up;
    negatives += down;
    begin = end;
  }
  return positives > 0 && negatives > 0 ? wins / (positives * negatives) : kNaN;
}

}  // namespace

double area_under_curve(std::span<const double> scores, std::span<const std::int8_t> positive) {
  if (scores.size() != positive.size()) throw Error("an AUC needs a flag for each score");
  return weighted_area(ranked(scores, positive), positive, std::vector<double>(scores.size(), 1.0));
}

AreaUnderCurve area_with_interval(std::span<const double> scores,
                                  std::span<const std::int8_t> positive, std::int64_t block,
                                  std::int64_t resamples, std::uint64_t seed) {
  constexpr std::int64_t kLeastBlocks = 10;
  constexpr double kTail = 0.025;
  AreaUnderCurve out{.auc = area_under_curve(scores, positive)};
  const auto size = static_cast<std::size_t>(block);
  const auto blocks = static_cast<std::int64_t>((scores.size() + size - 1) / size);
  if (std::isnan(out.auc) || blocks < kLeastBlocks) return out;
  const Ranked cases = ranked(scores, positive);
  const RandomWords random(seed, "labels/auc");
  std::vector<double> areas, weight(scores.size());
  for (std::int64_t r = 0; r < resamples; ++r) {
    std::ranges::fill(weight, 0.0);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const auto first =
          size * random.below(static_cast<std::uint64_t>(blocks), static_cast<std::uint32_t>(b),
                              static_cast<std::uint32_t>(r), 0);
      for (std::size_t i = first; i < std::min(first + size, weight.size()); ++i) weight[i] += 1;
    }
    const double area = weighted_area(cases, positive, weight);
    if (!std::isnan(area)) areas.push_back(area);
  }
  if (areas.empty()) return out;
  std::ranges::sort(areas);
  const auto quantile = [&](double q) {
    return areas[static_cast<std::size_t>(q * static_cast<double>(areas.size() - 1) + 0.5)];
  };
  out.low = quantile(kTail);
  out.high = quantile(1 - kTail);
  return out;
}

}  // namespace depthgrid
