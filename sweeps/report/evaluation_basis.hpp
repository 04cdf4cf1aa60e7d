#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// In what the evaluations behind two figures differ.
struct BasisDifference {
  std::string name;  // a leaf, or a fact of the results
  Value mine, theirs;
};

/// Why two figures cannot be subtracted; empty if they can.
struct BasisMismatch {
  std::vector<BasisDifference> differences;
  std::string advice;  // what to do, if there is something

  explicit operator bool() const { return !differences.empty(); }
  /// "eval.final_windows is 16, in the baseline null; data.join is …": at most three of them.
  /// @param place  of the other figure.
  std::string text(std::string_view place = kInBaseline) const;
  /// The same, and the advice if there is some.
  std::string text_and_advice(std::string_view place = kInBaseline) const;

  static constexpr std::string_view kInBaseline = "in the baseline";
  static constexpr std::string_view kInOtherSeed = "in another seed";
};

/// What the figures of one metric are measured on, cell by cell: the same text as the same tokens,
/// in the same windows. A difference of two figures says something about two models only if all
/// this is equal.
///
/// Facts count where both results have them (the digest of the split's tokens, how many were
/// predicted, whether a mode sees the future), else the leaves of the plan. Metrics that are no
/// evaluations (costs, counts) have no basis: all of them can be compared.
class EvaluationBasis {
 public:
  EvaluationBasis(const Listing& listing, std::string_view metric);

  BasisMismatch mismatch(std::size_t mine, std::size_t theirs) const;

  /// Metrics with equal keys are of one evaluation in each cell: what holds for one holds for all.
  std::string key() const;

  /// The first of these rows whose figure is not of the same evaluation as one before it, as that
  /// one and the mismatch; nothing if all are of one. Each is compared with the first row, and with
  /// the first that says what its tokens are (results of release 0.1 do not).
  std::optional<std::pair<std::size_t, BasisMismatch>> mismatch_among(
      const std::vector<std::size_t>& rows) const;

 private:
  bool looks_ahead(std::size_t row) const;
  bool same_facts(std::size_t mine, std::size_t theirs, const std::string& fact) const;
  bool counted_alike(std::size_t mine, std::size_t theirs) const;
  void add_windows(std::size_t mine, std::size_t theirs, BasisMismatch& out) const;
  bool add_text(std::size_t mine, std::size_t theirs, BasisMismatch& out) const;
  void add_leaves(std::size_t mine, std::size_t theirs, unsigned bits, bool tokens,
                  BasisMismatch& out) const;

  const Listing& listing_;
  unsigned bits_ = 0;  // of sweeps/report/evaluation_leaves.hpp; 0: no evaluation
  bool per_byte_ = false, drawn_anew_ = false;
  std::string split_, counted_, digest_, bytes_, noncausal_;  // names of facts and metrics
};

/// Metrics that are not of one evaluation in all cells that have them, and the first thing that
/// differs.
struct MixedMetrics {
  std::vector<std::string> metrics;
  BasisDifference difference;
};
/// @param names  metrics, and other columns, which are passed over.
std::vector<MixedMetrics> mixed_metrics(const Listing& listing,
                                        const std::vector<std::size_t>& cells,
                                        const std::vector<std::string>& names);

/// mixed_metrics(), a line each, for below a list of cells; else empty.
std::string evaluations_note(const Listing& listing, const std::vector<std::size_t>& cells,
                             const std::vector<std::string>& names);

}  // namespace depthgrid
