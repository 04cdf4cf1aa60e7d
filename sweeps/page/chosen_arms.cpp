#include "sweeps/page/chosen_arms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace depthgrid {

std::vector<std::size_t> chosen_arms(const std::vector<const ComparedRow*>& arms, bool maximize) {
  constexpr std::size_t kChosen = 12;
  std::vector<std::size_t> out(arms.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  if (out.size() <= kManyArms) return out;
  std::ranges::stable_sort(out, {}, [&](std::size_t i) {
    const double figure = (maximize ? -1 : 1) * arms[i]->all.mean;
    // The baseline stands first, arms without a number last.
    return std::pair(!arms[i]->group.baseline,
                     std::isnan(figure) ? std::numeric_limits<double>::infinity() : figure);
  });
  out.resize(kChosen);
  std::ranges::sort(out);
  return out;
}

bool has_baseline(const EffectTable& effects) {
  return std::ranges::any_of(effects.rows,
                             [](const ComparedRow& row) { return row.group.baseline; });
}

std::string chosen_arms_text(std::size_t drawn, std::size_t all, std::string_view things,
                             const std::string& metric, bool baseline) {
  if (drawn == all) return {};
  return fmt::format("{} of {} {}: the best by {}{}; the numbers are of all.", drawn, all, things,
                     metric, baseline ? " and the baseline" : "");
}

}  // namespace depthgrid
