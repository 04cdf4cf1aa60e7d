#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sweeps/compare/curve.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// A metric that no cell recorded: it is read off the curves of a periodic evaluation.
struct DerivedMetric {
  std::string name;                        // "late_noise.eval_loss.valid"
  std::string of;                          // the metric whose curves they are
  std::string note;                        // what it says, a line for people
  std::map<std::size_t, Reached> reached;  // by row of the listing, of a target
};

/// What a curve is read along.
enum class CurveAxis : std::uint8_t { Flops, Time };

// Each adds its metric to the completed cells of these rows that have the curve, from the stores of
// the listing. A row whose curve says nothing gets none. `metric` is one over evaluations
// ("eval_loss.valid"); "final_loss.valid" stands for that of the same split.
// @throws UserError (Usage) for a metric without a curve, and where no cell has one; StorageError.

/// "at_flops.…", "at_time.…": the curve at the smallest total that any of these cells spent. Beyond
/// that, the other cells went on, so their schedules of the learning rate are unfinished there.
/// @throws UserError (Usage) for times of other devices or other numbers of fused cells.
DerivedMetric add_equal_cost(Listing& listing, const std::vector<std::size_t>& rows,
                             const std::string& metric, CurveAxis axis);

/// "steps_to_target.…": steps till the curve reaches the target; infinite where it never does.
DerivedMetric add_steps_to_target(Listing& listing, const std::vector<std::size_t>& rows,
                                  const std::string& metric, double target, MetricGoal goal);

/// "late_noise.…": the residual deviation of the last k evaluations about their line. The note has
/// the slope, and the spread over seeds beside it.
DerivedMetric add_late_noise(Listing& listing, const std::vector<std::size_t>& rows,
                             const std::string& metric, std::size_t k);

}  // namespace depthgrid
