#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sweeps/compare/arms.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/two_stage_record.hpp"

namespace depthgrid {

/// The interval of one arm by the rule of `--until-ci`.
struct TwoStageRow {
  std::string arm;
  SteinInterval interval;            // its numbers are NaN where there is none
  std::size_t pairs = 0;             // seeds of both stages with a difference
  std::vector<std::size_t> missing;  // rows of cells without a figure: of this arm, of the baseline
  std::vector<std::int64_t> absent;  // seeds of which one side has no cell here
  std::string refused;               // why its cells cannot be compared with the baseline's
};

/// What a comparison shows: the intervals of the rule are for one metric, to one baseline, over all
/// cells, and stand beside no other differences.
struct TwoStageQuestion {
  std::vector<std::string> metrics;
  std::vector<std::size_t> rows;                 // of the listing, that take part
  std::vector<std::size_t> baseline;             // of these, the side that others are compared with
  std::vector<std::string> allowed;              // words of `--allow`
  std::map<std::string, std::string> refused{};  // arms that were refused, and why
};

/// The sweep's own: its metric, its baseline, every cell.
TwoStageQuestion two_stage_question(const Listing& listing);
TwoStageQuestion two_stage_question(const Listing& listing, const Comparison& comparison,
                                    const std::vector<std::size_t>& rows,
                                    const std::vector<std::string>& allowed);
/// @param metrics  that are shown.
TwoStageQuestion two_stage_question(const ArmComparison& comparison,
                                    const std::vector<std::size_t>& rows,
                                    const std::vector<std::string>& metrics,
                                    const std::vector<std::string>& allowed);

/// What the record of one store says to a question.
struct TwoStageAnswer {
  std::string store;   // as the listing names it
  std::string damage;  // why the record cannot be read: then there is nothing else
  TwoStageRecord record;
  std::string not_shown;  // why the question is not the rule's, one sentence: then there is no row
  std::vector<TwoStageRow> rows;  // one an arm beside the baseline, in the record's order
};

/// One for each store of the listing that has a record.
std::vector<TwoStageAnswer> two_stage_answers(const Listing& listing,
                                              const TwoStageQuestion& question);

/// The row of a group of a comparison: one that is exactly an arm of a record, beside a baseline
/// that is exactly the record's; else null.
const TwoStageRow* two_stage_row(const Listing& listing, const std::vector<TwoStageAnswer>& answers,
                                 const ComparedGroup& group, const ComparedGroup& baseline);

}  // namespace depthgrid
