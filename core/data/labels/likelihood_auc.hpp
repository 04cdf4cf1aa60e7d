#pragma once

#include <cstdint>
#include <span>

#include "core/base/nan.hpp"

namespace depthgrid {

/// The chance that a positive case scores higher than a negative one, ties counting half.
struct AreaUnderCurve {
  double auc = kNaN;
  double low = kNaN, high = kNaN;  // 2.5 and 97.5 % of the resamples
};

/// AUC by mid-ranks: scores that are all equal give .5 exactly. NaN without cases of both kinds.
/// @param scores  NaN: no case. @param positive  1, 0; -1: no case.
/// Source: Mann & Whitney (1947), Ann. Math. Stat. 18, 50.
double area_under_curve(std::span<const double> scores, std::span<const std::int8_t> positive);

/// The same with an interval by resampling blocks of `block` cases in a row, since neighbours in a
/// text are alike. NaN for fewer than ten blocks.
/// @param seed      of the resamples.
/// Source: Künsch (1989), Ann. Stat. 17, 1217 (blocks of a stationary sequence).
AreaUnderCurve area_with_interval(std::span<const double> scores,
                                  std::span<const std::int8_t> positive, std::int64_t block,
                                  std::int64_t resamples, std::uint64_t seed);

}  // namespace depthgrid
