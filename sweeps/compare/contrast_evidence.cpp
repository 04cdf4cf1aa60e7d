#include "sweeps/compare/contrast_evidence.hpp"

#include <algorithm>
#include <cmath>


namespace depthgrid {
namespace {

std::vector<double> averages_of(const GroupFigures& figures) {
  std::vector<double> out;
  for (const auto& [seed, value] : seed_averages(figures)) out.push_back(value);
  return out;
}

/// One seed of a group: reached if all of the combinations that count have, and then their mean.
/// @param other  of the other side. @param both  only combinations that it has, too, count.
Reached reached_by(const EvidenceRules& rules, const std::map<std::string, CellFigure>& own,
                   const std::map<std::string, CellFigure>& other, bool both) {
  Reached out{.reached = true, .at = 0};
  double n = 0;
  for (const auto& [combination, figure] : own) {
    if (both && !other.contains(combination)) continue;
    const Reached& one = rules.derived->reached.at(figure.row);
    out.reached = out.reached && one.reached;
    out.at += one.at;
    ++n;
  }
  out.at /= n;
  return out;
}

/// Nothing unless the metric is steps to a target that some cell of a pair never reached.
std::optional<CensoredComparison> censored_of(const EvidenceRules& rules, const GroupFigures& mine,
                                              const GroupFigures& theirs, const SeedPairs& pairs,
                                              bool by_combination) {
  const auto& derived = rules.derived;
  if (!derived || derived->reached.empty()) return std::nullopt;
  std::vector<Reached> a, b;
  bool all = true;
  for (const std::int64_t seed : pairs.seeds) {
    a.push_back(reached_by(rules, mine.at(seed), theirs.at(seed), by_combination));
    b.push_back(reached_by(rules, theirs.at(seed), mine.at(seed), by_combination));
    all = all && a.back().reached && b.back().reached;
  }
  if (all) return std::nullopt;
  return censored_comparison(a, b);
}

std::vector<std::size_t> rows_of(const GroupFigures& figures) {
  std::vector<std::size_t> out;
  for (const auto& [seed, of_seed] : figures) {
    for (const auto& [combination, figure] : of_seed) out.push_back(figure.row);
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
                                   const GroupFigures& theirs, bool by_combination,
                                   DetectableEffects& detectable) {
  ContrastEvidence out;
  out.pairs = seed_pairs(mine, theirs, by_combination, rules.mismatch);
  if (out.pairs.refused) return out;
  if (out.pairs.seeds.empty()) {
    const bool common = std::ranges::any_of(
        mine, [&theirs](const auto& entry) { return theirs.contains(entry.first); });
    const std::vector<double> a = averages_of(mine), b = averages_of(theirs);
    if (common || a.empty() || b.empty()) return out;
    for (const std::size_t row : rows_of(mine)) {
      for (const std::size_t other : rows_of(theirs)) {
        if ((out.pairs.refused = rules.mismatch(row, other))) return out;
      }
    }
    out.unpaired = welch_difference(a, b);
    out.sample = summary_of(a);
    out.baseline = summary_of(b);
    return out;
  }
  std::vector<double> differences = out.pairs.differences();
  out.censored = censored_of(rules, mine, theirs, out.pairs, by_combination);
  out.sample = summary_of(out.pairs.mine);
  out.baseline = summary_of(out.pairs.theirs);
  out.contrast = paired_contrast(differences);
  out.effect = paired_effect(out.contrast);
  out.g_av = hedges_g_av(out.pairs.mine, out.pairs.theirs);
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
  } else if (std::isnan(out.contrast.p)) {  // nothing varies: neither do the signs say anything
    out.flips = {};
    out.signs.p = kNaN;
  }
  out.simultaneous = out.contrast.interval;
  out.holm = out.p();
  if (rules.maximize) {
    for (double& d : differences) d = -d;
  }
  out.improved = improvement_share(differences);
  return out;
}

}  // namespace depthgrid
