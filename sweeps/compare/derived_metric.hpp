#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/cells/cell_series.hpp"
#include "sweeps/compare/curve.hpp"
#include "sweeps/compare/time_origins.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// A metric that no cell recorded: it is read off the curves of a periodic evaluation.
struct DerivedMetric {
  std::string name;                             // "late_noise.eval_loss.valid"
  std::string of;                               // the metric whose curves they are
  std::string note;                             // what it says, a line for people
  std::string lacking = {};                     // why cells have no number of it; empty if all have
  std::map<std::size_t, Reached> reached = {};  // by row of the listing, of a target
  TimeOrigins times = {};                       // of what is read at a time
};

/// What a curve is read along.
enum class CurveAxis : std::uint8_t { Flops, Time };

/// The evaluations of completed cells, by row of the listing.
using CurvesByRow = std::map<std::size_t, CellSeries>;

/// The metric that has the curves: that of the same split for one of the last weights, as
/// "eval_loss.valid" for "final_loss.valid"; else itself.
std::string metric_with_curve(const std::string& metric);

/// Reads the curves of the completed cells among these rows; a cell without one has none.
/// @param metric  see metric_with_curve()
/// @throws UserError (Usage) if cells have completed and none has such a curve; StorageError.
CurvesByRow read_curves(const Listing& listing, const std::vector<std::size_t>& rows,
                        const std::string& metric);

// Each adds its metric to the cells that have a curve, and none where the curve says nothing.

/// "at_flops.…", "at_time.…": the curve at the smallest total that any of these cells spent; of
/// times, any on the same device with as many fused cells. Beyond that, the other cells went on.
DerivedMetric add_equal_cost(Listing& listing, const CurvesByRow& curves, const std::string& metric,
                             CurveAxis axis);

/// "steps_to_target.…": steps till the curve reaches the target; infinite where it never does.
DerivedMetric add_steps_to_target(Listing& listing, const CurvesByRow& curves,
                                  const std::string& metric, double target, MetricGoal goal);

/// "late_noise.…": the residual deviation of the last k evaluations about their line. The note has
/// the slope, and the spread over seeds beside it.
DerivedMetric add_late_noise(Listing& listing, const CurvesByRow& curves, const std::string& metric,
                             std::size_t k);

/// Whether the learning rate of a cell still changes after this step, by train.schedule: in its
/// warm-up, or before the end of its decay. True where the schedule is not known.
bool rate_changes_after(const Listing& listing, std::size_t row, double step);

}  // namespace depthgrid
