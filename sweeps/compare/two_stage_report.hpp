#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/compare/two_stage_intervals.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// What stage one has decided, one line without its end: W, the seeds that the rule asks for and,
/// where they are more, those that the cap allows with the half-width that these give. Names no
/// place.
std::string two_stage_headline(const TwoStageRecord& record);

/// A row per arm: seeds, difference, interval, half-width; where some arm has no interval, also why
/// not: the cells that are missing. Names no place.
Table two_stage_table(const Listing& listing, const TwoStageAnswer& answer);

/// What the intervals are, and that those of a comparison are something else: one line without its
/// end; empty if there is none to explain.
std::string two_stage_closing(const TwoStageAnswer& answer);

/// For people, below a comparison: of each store headline, table, how missing cells are trained;
/// where the question is another one, a sentence. Empty without a record.
std::string two_stage_text(const Listing& listing, const std::vector<TwoStageAnswer>& answers);

/// [{"store", "damage", "metric", "baseline", …, "arms": […]}]; docs/cli.md.
nlohmann::ordered_json two_stage_json(const Listing& listing,
                                      const std::vector<TwoStageAnswer>& answers);

/// Adds the columns until_ci_… to comparison_csv_table(): of groups that are an arm of a record.
void add_two_stage_columns(Table& csv, const Listing& listing, const Comparison& comparison,
                           const std::vector<TwoStageAnswer>& answers);
/// The same for arms_csv_table(): in the rows of the record's metric.
void add_two_stage_columns(Table& csv, const Listing& listing, const ArmComparison& comparison,
                           const std::vector<std::string>& metrics,
                           const std::vector<TwoStageAnswer>& answers);

}  // namespace depthgrid
