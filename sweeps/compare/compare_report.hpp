#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/no_contrast.hpp"
#include "sweeps/compare/two_stage_intervals.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// For people: a table of effects for each factor and one of the evidence; below them what they are
/// of, what was left out or refused, trends, interactions and shares of variance.
std::string comparison_text(const Listing& listing, const Comparison& comparison,
                            Colour colour = Colour::No);

/// For spreadsheets: one row per group of each table, in full precision.
Table comparison_csv_table(const Comparison& comparison);

/// {"schema": 1, "metric", "goal", …, "effects": […], "variance": […], "until_ci": […]};
/// docs/cli.md. @param staged  what records of `--until-ci` say to it.
std::string comparison_json(const Listing& listing, const Comparison& comparison,
                            const std::optional<NoContrast>& problem,
                            const std::vector<TwoStageAnswer>& staged = {});

}  // namespace depthgrid
