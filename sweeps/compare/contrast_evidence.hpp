#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/compare/contrast.hpp"
#include "sweeps/compare/curve.hpp"
#include "sweeps/compare/derived_metric.hpp"
#include "sweeps/compare/multiplicity.hpp"
#include "sweeps/compare/seed_pairs.hpp"
#include "sweeps/compare/time_origins.hpp"

namespace depthgrid {

/// What the pairs of one group and the baseline say; contrast.hpp has the meaning of each number.
struct ContrastEvidence {
  SeedPairs pairs;
  std::string compared_with;  // of an arm without the leaf; see combination_pairing()
  /// Independent measurements among the pairs; fewer than these where a figure is a measured time
  /// or read at one, and pairs share a fused job, whose seeds share one measured time. Then there
  /// is a mean and nothing that its spread would say.
  std::size_t measurements = 0;
  SampleSummary sample, baseline;          // of the pairs
  PairedContrast contrast;                 // of mine − theirs
  std::optional<MeanDifference> unpaired;  // without a common seed (Welch): no p, no verdict
  PairedEffect effect;
  double g_av = kNaN;
  SignFlipTest flips;
  SignTest signs;
  ImprovementShare improved;
  EquivalenceTest equivalence;    // with a margin
  double detectable = kNaN;       // at these pairs, power .8, the level of a single test
  double seeds_needed = kNaN;     // for the difference as it is, likewise
  ConfidenceLimits simultaneous;  // of the family; else as it is alone
  double holm = kNaN;             // within the family
  ContrastVerdict verdict = ContrastVerdict::Undecided;
  /// Of steps to a target, where some seed never reached it: no mean, p is that of the sign test.
  std::optional<CensoredComparison> censored;

  bool shares_measurements() const { return measurements < pairs.seeds.size(); }
  double p() const { return censored ? signs.p : contrast.p; }
};

/// Smallest effects that seeds can show, solved once for each number of them: for n pairs it is a
/// multiple of their deviation, whatever that is.
class DetectableEffects {
 public:
  /// detectable_effect() at the level of a single test, in the unit of sd.
  double of(std::size_t n, double sd);
  std::size_t solved() const noexcept { return standardised_.size(); }

 private:
  std::map<std::size_t, double> standardised_;  // by pairs
};

/// What the contrasts of one call have in common.
struct EvidenceRules {
  std::function<BasisMismatch(std::size_t, std::size_t)> mismatch;  // see seed_pairs.hpp
  const DerivedMetric* derived = nullptr;  // the metric, if it was read off curves
  const TimeOrigins& times;                // of figures that are measured times or read at them
  std::optional<double> margin = std::nullopt;
  bool maximize = false;
};

/// Compares a group with the baseline. Holm's p and the simultaneous interval are those of the
/// contrast alone, the verdict is open.
/// @param paired  see seed_pairs()
ContrastEvidence contrast_evidence(const EvidenceRules& rules, const GroupFigures& mine,
                                   const GroupFigures& theirs,
                                   const std::vector<PairedCombinations>& paired,
                                   DetectableEffects& detectable);

}  // namespace depthgrid
