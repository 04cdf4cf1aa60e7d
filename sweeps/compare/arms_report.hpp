#pragma once

#include <string>
#include <vector>

#include "sweeps/compare/arms.hpp"
#include "sweeps/compare/two_stage_intervals.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// Metrics that an output shows: those of `columns` (names, or patterns with * and ?), or all that
/// were recorded if it is empty. @throws UserError (Usage) for an unknown name.
std::vector<std::string> arm_metrics(const ArmComparison& comparison,
                                     const std::vector<std::string>& columns);

/// Orders the arms by `arm`, `tag`, `cells` or the mean of a metric; with - in front, largest
/// first; arms without a value come last. @throws UserError (Usage) for an unknown name.
void sort_arms(ArmComparison& comparison, const std::string& sort);

/// For people: one row per arm; of each metric the mean ± standard deviation over seeds, the number
/// of seeds, the difference to the baseline and its interval; where a difference leaves seeds out,
/// the baseline's mean over the same seeds. In a sweep with `match:` also parameters, operations
/// and time. Below it, what the columns mean (arms_notes.hpp).
std::string arms_text(const Listing& listing, const ArmComparison& comparison,
                      const std::vector<std::string>& metrics, Colour colour = Colour::No);

/// For programs: one row per arm and metric, in full precision.
Table arms_csv_table(const ArmComparison& comparison, const std::vector<std::string>& metrics);

/// {"schema": 1, "sweep", …, "by": "arm", "baseline", "confidence", "arms": [{arm, tag, baseline,
/// cells, counts, seeds, overrides, metrics}], "until_ci": […]}; docs/cli.md.
/// @param staged  what the record of `--until-ci` says to it.
std::string arms_json(const Listing& listing, const ArmComparison& comparison,
                      const std::vector<std::string>& metrics,
                      const std::vector<TwoStageAnswer>& staged = {});

}  // namespace depthgrid
