#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sweeps/compare/compare.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

// What a table of effects says of one contrast, on the terminal and on the page.

/// "+0.012 ± 0.004"; "refused"; "-" where seeds are censored.
std::string difference_entry(const ContrastEvidence& evidence);

/// "[-0.008, -0.004]", followed by " w" for Welch's, without a common seed; "-" without limits,
/// empty where there is no difference.
std::string interval_entry(const ContrastEvidence& evidence);

/// The smallest difference that a single test shows at these seeds, or "-".
std::string detectable_entry(const ContrastEvidence& evidence);

/// "no effect beyond 0.005", "differs", "undecided", "refused"; "-" without a p.
std::string verdict_entry(const ContrastEvidence& evidence, std::optional<double> margin);

/// What the pairs say beyond their interval; no rows if no contrast has two pairs. Groups that are
/// the baseline's own measurements are left out. @param without  title of a column that stands
/// elsewhere.
Table evidence_table(const EffectTable& effects, std::string_view without);

/// The trend over the levels, in a line; empty without one.
std::string trend_line(const EffectTable& effects);

/// "final_loss.valid (nat)".
std::string metric_title(const Comparison& comparison);

}  // namespace depthgrid
