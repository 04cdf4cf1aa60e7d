#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/derived_metric.hpp"

namespace depthgrid {

/// Arms compared in the steps to a target.
struct TargetSteps {
  double target = 0;
  Comparison comparison;
};

/// The hardest target of at most four digits that every one of these curves reaches, so that all
/// arms have a mean; nothing without a curve.
std::optional<double> common_target(const CurvesByRow& curves, MetricGoal goal);

/// Of the arms that are not refused. Nothing unless some cell needs more steps than to its first
/// evaluation.
/// @param listing  whose stores are named as the page does. @param query  of the arms.
/// @param curves   of the metric of the arms, see metric_with_curve().
std::optional<TargetSteps> target_steps(Listing listing, const std::vector<std::size_t>& rows,
                                        const ComparisonQuery& query, const Comparison& by_arm,
                                        const CurvesByRow& curves);

}  // namespace depthgrid
