#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/compare/compare.hpp"

namespace depthgrid {

// Pictures with a line, a row or a panel for each arm: of very many arms nobody reads all, and the
// page is mailed. Their numbers are of all.

/// Up to so many arms all are drawn.
inline constexpr std::size_t kManyArms = 24;

/// Which of these are drawn: all, or, of more than kManyArms, the baseline and those that are best
/// by the metric, 12 together. @return their indices, ascending.
std::vector<std::size_t> chosen_arms(const std::vector<const ComparedRow*>& arms, bool maximize);

/// Whether one of the rows is the baseline.
bool has_baseline(const EffectTable& effects);

/// "12 of 100 arms: the best by … and the baseline; the numbers are of all."; empty if all are
/// drawn. @param things  what they are: "arms". @param baseline  is one of them.
std::string chosen_arms_text(std::size_t drawn, std::size_t all, std::string_view things,
                             const std::string& metric, bool baseline);

}  // namespace depthgrid
