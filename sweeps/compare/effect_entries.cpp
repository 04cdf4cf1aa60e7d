#include "sweeps/compare/effect_entries.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/grouped.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/compare/number_text.hpp"

namespace depthgrid {
namespace {

/// "0.60 [0.23, 0.88]".
std::string share_entry(double value, const ConfidenceLimits& limits) {
  if (std::isnan(value)) return "-";
  std::string out = fixed_text(value, 2);
  if (!std::isnan(limits.low)) {
    out += fmt::format(" [{}, {}]", fixed_text(limits.low, 2), fixed_text(limits.high, 2));
  }
  return out;
}

/// A number of seeds that somebody could train.
std::string seeds_entry(double needed) {
  constexpr double kMost = 10'000;
  if (!std::isfinite(needed)) return "-";
  return needed > kMost ? fmt::format("> {}", grouped(static_cast<std::int64_t>(kMost)))
                        : fmt::format("{:.0f}", std::ceil(needed));
}

}  // namespace

std::string difference_entry(const ContrastEvidence& evidence) {
  if (evidence.pairs.refused) return "refused";
  if (evidence.unpaired) {
    const MeanDifference& d = *evidence.unpaired;
    return difference_text(d.value, (d.high - d.low) / 2);
  }
  if (evidence.censored) return "-";
  return difference_text(evidence.contrast.mean, evidence.contrast.interval.half_width());
}

std::string interval_entry(const ContrastEvidence& evidence) {
  if (evidence.pairs.refused || evidence.censored) return {};
  if (evidence.unpaired) {
    return interval_text({evidence.unpaired->low, evidence.unpaired->high}) +
           (std::isnan(evidence.unpaired->low) ? "" : " w");
  }
  return interval_text(evidence.contrast.interval);
}

std::string detectable_entry(const ContrastEvidence& evidence) {
  const double detectable = evidence.detectable;
  return std::isnan(detectable) ? "-" : fixed_text(detectable, decimals_of(detectable));
}

std::string verdict_entry(const ContrastEvidence& evidence, std::optional<double> margin) {
  if (evidence.pairs.refused) return "refused";
  if (std::isnan(evidence.p())) return "-";
  if (evidence.verdict == ContrastVerdict::NoEffect && margin) {
    return "no effect beyond " + shortest(*margin);
  }
  return std::string(contrast_verdict_text(evidence.verdict));
}

Table evidence_table(const EffectTable& effects, std::string_view without) {
  Table out{{{effects.title()},
             {"p", Align::Right},
             {"all at once"},
             {"sign-flip p", Align::Right},
             {"Hedges' g"},
             {"improved"},
             {"detectable", Align::Right},
             {"seeds for this", Align::Right}},
            {}};
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence || row.evidence->contrast.n < 2 || row.evidence->shares_measurements())
      continue;
    const ContrastEvidence& e = *row.evidence;
    out.rows.push_back({row.group.name, probability_text(e.p()), interval_text(e.simultaneous),
                        exact_probability_text(e.flips.p),
                        share_entry(e.effect.g, e.effect.g_interval),
                        share_entry(e.improved.share, e.improved.interval), detectable_entry(e),
                        seeds_entry(e.seeds_needed)});
  }
  const auto column = std::ranges::find(out.columns, without, &TableColumn::title);
  if (column == out.columns.end()) return out;
  const auto at = column - out.columns.begin();
  out.columns.erase(column);
  for (std::vector<std::string>& row : out.rows) row.erase(row.begin() + at);
  return out;
}

std::string trend_line(const EffectTable& effects) {
  if (!effects.trend) return {};
  constexpr std::size_t kMostCombinations = 4;
  const MonotoneTrend& trend = *effects.trend;
  std::string out = fmt::format(
      "trend over {}, {} seeds: slope {:.3g} per unit [{:.3g}, {:.3g}], p {}; monotone, Page's L: "
      "p {}",
      effects.title(), effects.trend_seeds, trend.slope.mean, trend.slope.interval.low,
      trend.slope.interval.high, probability_text(trend.slope.p), probability_text(trend.p));
  const std::vector<std::string>& over = effects.trend_over;
  if (!over.empty()) {
    const std::size_t named = std::min(kMostCombinations, over.size());
    out += fmt::format(
        "; over the combinations that all levels have: {}{}",
        fmt::join(over.begin(), over.begin() + static_cast<std::ptrdiff_t>(named), "; "),
        over.size() > named ? fmt::format(" and {} more", over.size() - named) : "");
  }
  return out + "\n";
}

std::string metric_title(const Comparison& comparison) {
  return comparison.unit.empty() ? comparison.metric
                                 : fmt::format("{} ({})", comparison.metric, comparison.unit);
}

}  // namespace depthgrid
