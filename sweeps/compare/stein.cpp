#include "sweeps/compare/stein.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <boost/math/distributions/students_t.hpp>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr double kSteinNoSpread = 1e-12;  // sd over mean: less is rounding of equal differences

void require_stein_first(std::size_t first_seeds) {
  if (first_seeds < kSteinFirstSeeds) {
    throw Error("a first stage of " + std::to_string(first_seeds) + " seeds; at least " +
                std::to_string(kSteinFirstSeeds) + " are needed");
  }
}

/// t(1 − α/2; n0 − 1), by the rule.
double stein_quantile(const SteinRule& rule) {
  require_stein_first(rule.first_seeds);
  if (!(rule.half_width > 0 && std::isfinite(rule.half_width))) {
    throw Error("the half-width wanted is not a positive number");
  }
  if (rule.max_seeds < rule.first_seeds) {
    throw Error("at most " + std::to_string(rule.max_seeds) + " seeds, but a first stage of " +
                std::to_string(rule.first_seeds));
  }
  if (!(rule.confidence > 0 && rule.confidence < 1)) {
    throw Error("confidence is not between 0 and 1");
  }
  const boost::math::students_t distribution(static_cast<double>(rule.first_seeds - 1));
  return boost::math::quantile(boost::math::complement(distribution, (1 - rule.confidence) / 2));
}

double half_width_with(double t, double sd, double seeds) {
  return t * sd / std::sqrt(seeds);
}

/// The smallest n ≥ n0 whose half-width is ≤ W. That is the ceiling of (t s / W)², except where
/// rounding would make the reported half-width exceed W or ask for a seed too many.
double seeds_wanted(double t, double sd, const SteinRule& rule) {
  const auto first = static_cast<double>(rule.first_seeds);
  const double ratio = t * sd / rule.half_width;
  double seeds = std::max(first, std::ceil(ratio * ratio));
  if (seeds > first && half_width_with(t, sd, seeds - 1) <= rule.half_width) --seeds;
  if (half_width_with(t, sd, seeds) > rule.half_width) ++seeds;
  return seeds;
}

bool all_finite_values(std::span<const double> values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

/// Status of a contrast whose numbers are there.
SteinStatus stein_width_status(double half_width, const SampleSummary& first,
                               const SteinRule& rule) {
  if (half_width > rule.half_width) return SteinStatus::TooWide;
  const bool spread = first.sd > kSteinNoSpread * std::abs(first.mean);
  return spread ? SteinStatus::Met : SteinStatus::NoSpread;
}

}  // namespace

double stein_seeds(double sd, const SteinRule& rule) {
  return seeds_wanted(stein_quantile(rule), sd, rule);
}

SteinPlan stein_plan(std::span<const std::vector<double>> first_stage, const SteinRule& rule) {
  const double t = stein_quantile(rule);
  SteinPlan out;
  std::vector<SampleSummary> summaries(first_stage.size());
  for (std::size_t i = 0; i < first_stage.size(); ++i) {
    SteinDemand& demand = out.contrasts.emplace_back();
    const std::span<const double> all = first_stage[i];
    if (all.size() >= rule.first_seeds) {
      const std::span<const double> first = all.first(rule.first_seeds);
      summaries[i] = summary_of(first);
      demand.status = all_finite_values(first) && std::isfinite(summaries[i].sd)
                          ? SteinStatus::Met
                          : SteinStatus::NotFinite;
    }
    if (demand.status != SteinStatus::Met) {
      out.unusable.push_back(i);
      continue;
    }
    demand.sd = summaries[i].sd;
    demand.wanted = seeds_wanted(t, demand.sd, rule);
    if (!out.deciding || demand.sd > out.contrasts[*out.deciding].sd) out.deciding = i;
  }
  if (!out.deciding) return out;
  const double wanted =
      out.contrasts[*out.deciding].wanted;  // grows with s, so this is the largest
  const bool enough = wanted <= static_cast<double>(rule.max_seeds);
  out.seeds = enough ? static_cast<std::size_t>(wanted) : rule.max_seeds;
  out.met = enough && out.unusable.empty();
  for (std::size_t i = 0; i < first_stage.size(); ++i) {
    SteinDemand& demand = out.contrasts[i];
    if (demand.status != SteinStatus::Met) continue;
    demand.half_width = half_width_with(t, demand.sd, static_cast<double>(out.seeds));
    demand.status = stein_width_status(demand.half_width, summaries[i], rule);
  }
  return out;
}

SteinInterval stein_interval(std::span<const double> differences, std::size_t seeds,
                             const SteinRule& rule) {
  const double t = stein_quantile(rule);
  SteinInterval out;
  const std::size_t n = std::max(seeds, rule.first_seeds);
  if (differences.size() < n) return out;
  out.status = SteinStatus::NotFinite;
  const std::span<const double> counted = differences.first(n);
  const SampleSummary first = summary_of(counted.first(rule.first_seeds));
  if (!all_finite_values(counted) || !std::isfinite(first.sd)) return out;
  out.n = n;
  out.mean = summary_of(counted).mean;
  out.sd = first.sd;
  out.degrees = static_cast<double>(rule.first_seeds - 1);
  out.half_width = half_width_with(t, out.sd, static_cast<double>(n));
  out.interval = {.low = out.mean - out.half_width, .high = out.mean + out.half_width};
  out.status = stein_width_status(out.half_width, first, rule);
  return out;
}

std::optional<double> stein_half_width(double per_cent, std::span<const double> baseline,
                                       std::size_t first_seeds) {
  require_stein_first(first_seeds);
  if (!(per_cent > 0 && std::isfinite(per_cent))) {
    throw Error("the half-width wanted is not a positive number of per cent");
  }
  if (baseline.size() < first_seeds) return std::nullopt;
  const double width = per_cent / 100 * std::abs(summary_of(baseline.first(first_seeds)).mean);
  if (!(width > 0 && std::isfinite(width))) return std::nullopt;
  return width;
}

}  // namespace depthgrid
