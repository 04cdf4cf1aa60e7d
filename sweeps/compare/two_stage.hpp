#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/config/sweep.hpp"
#include "sweeps/compare/two_stage_record.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

// `--until-ci`: seeds are added once, by Stein's rule of two stages (stein.hpp), until the
// intervals of the differences to the baseline are as narrow as asked. two_stage_record.hpp keeps
// what stage one has decided, two_stage_intervals.hpp has the intervals.

/// What is asked for.
struct TwoStageRequest {
  std::string half_width;  // a number above 0, or one with a %
  std::int64_t max_seeds = 100;
};

/// @throws UserError (Usage) unless `half_width` is such a number and the sweep has five seeds or
///         more, a metric, a baseline and another arm.
void check_two_stage(const Sweep& sweep, const TwoStageRequest& request);

/// Whether a record that the store has is of this request and this sweep: for a record there is no
/// other one. @throws UserError (Usage) saying in what they differ, unless W, the cap, the metric
/// and the baseline are the same and every arm of the sweep was in stage one.
void check_same_two_stage(const TwoStageRecord& record, const Sweep& sweep,
                          const TwoStageRequest& request);

/// Decides after stage one; nothing while cells of it are to be trained.
/// @throws UserError (Partial) naming the cells and what helps, if one has diverged or failed: the
///         rule needs every pair; UserError (BadData) if the arms cannot be compared.
std::optional<TwoStageRecord> decide_two_stage(const Listing& listing,
                                               const TwoStageRequest& request);

}  // namespace depthgrid
