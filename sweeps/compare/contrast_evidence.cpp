#include "sweeps/compare/contrast_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>

namespace depthgrid {
namespace {

/// One side of a pair: reached if all of its cells have, and then their mean.
Reached reached_by(const DerivedMetric& derived, const std::vector<WeightedRow>& cells) {
  Reached out{.reached = true, .at = 0};
  for (const WeightedRow& cell : cells) {
    const Reached& one = derived.reached.at(cell.row);
    out.reached = out.reached && one.reached;
    out.at += one.at * cell.weight;
  }
  return out;
}

/// Nothing unless the metric is steps to a target that some cell of a pair never reached.
std::optional<CensoredComparison> censored_of(const DerivedMetric* derived,
                                              const SeedPairs& pairs) {
  if (derived == nullptr || derived->reached.empty()) return std::nullopt;
  std::vector<Reached> a, b;
  bool all = true;
  for (const PairRows& pair : pairs.rows) {
    a.push_back(reached_by(*derived, pair.mine));
    b.push_back(reached_by(*derived, pair.theirs));
    all = all && a.back().reached && b.back().reached;
  }
  if (all) return std::nullopt;
  return censored_comparison(a, b);
}

/// Figures of one side at the combinations that are compared.
GroupFigures figures_compared(const GroupFigures& figures,
                              const std::vector<PairedCombinations>& paired,
                              std::vector<std::string> PairedCombinations::* side) {
  std::set<std::string> all;
  for (const PairedCombinations& one : paired) all.insert((one.*side).begin(), (one.*side).end());
  GroupFigures out;
  for (const auto& [seed, of_seed] : figures) {
    for (const auto& [combination, figure] : of_seed) {
      if (all.contains(combination)) out[seed].emplace(combination, figure);
    }
  }
  return out;
}

}  // namespace

double DetectableEffects::of(std::size_t n, double sd) {
  if (n < 2 || !(sd > 0) || !std::isfinite(sd)) return kNaN;
  const auto [at, fresh] = standardised_.emplace(n, kNaN);
  if (fresh) at->second = detectable_effect(n, 1, kVerdictLevel);
  return at->second * sd;
}

ContrastEvidence contrast_evidence(const EvidenceRules& rules, const GroupFigures& mine,
                                   const GroupFigures& theirs,
                                   const std::vector<PairedCombinations>& paired,
                                   DetectableEffects& detectable) {
  ContrastEvidence out;
  out.pairs = seed_pairs(mine, theirs, paired, rules.mismatch);
  if (out.pairs.refused) return out;
  if (out.pairs.seeds.empty()) {
    const bool common = std::ranges::any_of(
        mine, [&theirs](const auto& entry) { return theirs.contains(entry.first); });
    const GroupFigures own = figures_compared(mine, paired, &PairedCombinations::mine);
    const GroupFigures other_side = figures_compared(theirs, paired, &PairedCombinations::theirs);
    const std::vector<double> a = averages_of(own), b = averages_of(other_side);
    if (common || a.empty() || b.empty()) return out;
    for (const std::size_t row : rows_of(own)) {
      for (const std::size_t other : rows_of(other_side)) {
        if ((out.pairs.refused = rules.mismatch(row, other))) return out;
      }
    }
    out.unpaired = welch_difference(a, b);
    std::vector<std::size_t> cells = rows_of(own);
    std::ranges::copy(rows_of(other_side), std::back_inserter(cells));
    if (share_measurements(rules.times, cells)) {
      out.unpaired->low = out.unpaired->high = out.unpaired->degrees = kNaN;
    }
    out.sample = summary_of(a);
    out.baseline = summary_of(b);
    return out;
  }
  std::vector<double> differences = out.pairs.differences();
  out.censored = censored_of(rules.derived, out.pairs);
  out.sample = summary_of(out.pairs.mine);
  out.baseline = summary_of(out.pairs.theirs);
  out.contrast = paired_contrast(differences);
  out.measurements = independent_pairs(rules.times, out.pairs);
  const bool shared = out.shares_measurements();
  if (shared) {
    PairedContrast mean_alone;
    mean_alone.n = out.contrast.n;
    mean_alone.mean = out.contrast.mean;
    out.contrast = mean_alone;
  }
  out.effect = paired_effect(out.contrast);
  if (!shared) out.g_av = hedges_g_av(out.pairs.mine, out.pairs.theirs);
  out.flips = sign_flip_test(differences);
  out.signs = sign_test(differences);
  if (rules.margin) {
    out.equivalence = equivalence_test(out.contrast, *rules.margin);
  }
  out.detectable = detectable.of(out.contrast.n, out.contrast.sd);
  out.seeds_needed = pairs_needed(out.contrast.mean, out.contrast.sd, kVerdictLevel);
  if (out.censored) {
    out.signs = out.censored->signs;
    if (out.censored->reached_a + out.censored->reached_b == 0) out.signs.p = kNaN;  // all are ties
  } else if (std::isnan(out.contrast.p)) {  // nothing varies, or pairs are not independent
    out.flips = {};
    out.signs.p = kNaN;
  }
  out.simultaneous = out.contrast.interval;
  out.holm = out.p();
  if (rules.maximize) {
    for (double& d : differences) d = -d;
  }
  out.improved = improvement_share(differences);
  if (shared) out.improved.interval = {};
  return out;
}

}  // namespace depthgrid
