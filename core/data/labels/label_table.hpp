#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/nan.hpp"
#include "core/data/labels/attribute_rules.hpp"

namespace depthgrid {

/// The distribution of a score over the training sentences: its distinct values, with counts.
class RankTable {
 public:
  /// Of no scores.
  RankTable() = default;

  /// Of scores in any order; NaN is none.
  explicit RankTable(std::span<const double> scores);

  /// As it was stored. @throws Error unless both rise and have the same size.
  RankTable(std::vector<double> values, std::vector<std::int64_t> cumulative);

  /// Mid-rank q in [0, 1]: (scores below + half of those equal) / n; all equal: .5 exactly. NaN for
  /// NaN, and of no scores.
  double rank(double score) const noexcept;

  /// Of an even number of scores the mean of the two in the middle; NaN of none.
  double median() const noexcept;

  /// Entropy of the distribution, nats: what a rank carries at most.
  double entropy() const noexcept;

  std::int64_t size() const noexcept { return cumulative_.empty() ? 0 : cumulative_.back(); }
  const std::vector<double>& values() const noexcept { return values_; }  // distinct, rising
  /// Number of scores up to and including each value.
  const std::vector<std::int64_t>& cumulative() const noexcept { return cumulative_; }

  bool operator==(const RankTable&) const = default;

 private:
  double sorted(std::int64_t index) const noexcept;

  std::vector<double> values_;
  std::vector<std::int64_t> cumulative_;
};

/// An attribute fitted on the training sentences: all that turns a score into a label. It is kept
/// with the store, so that later texts are labelled alike.
struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::Ordinal;
  double threshold = kNaN;  // positive: score > threshold; NaN: no sentence to fit it on
  RankTable ranks;

  bool operator==(const Attribute&) const = default;
};

/// As JSON; parsed again, every number has its bits.
nlohmann::ordered_json to_json(const Attribute& attribute);

/// Inverse of to_json(). @throws Error if `json` is no such object.
Attribute attribute_from_json(const nlohmann::ordered_json& json);

/// How a score becomes u, in [-1, 1]: words of `train.control.labels.map`.
enum class LabelMap : std::uint8_t {
  Rank,         ///< 2q - 1, q the mid-rank among the training sentences
  Sign,         ///< 1 if the score is above the threshold, else -1
  Probability,  ///< 2s - 1, of a score s in [0, 1]
  AsItIs        ///< the score, which is u; no word of the leaf
};

/// @throws UserError for an unknown word.
LabelMap label_map(std::string_view word);

/// What `train.control.labels.map: null` means: Rank of ordinal attributes, Sign of binary ones.
LabelMap default_map(AttributeKind kind) noexcept;

/// u of a score; NaN (unlabelled) for NaN, and where the map needs what could not be fitted.
/// @throws UserError (BadData) for LabelMap::Probability and a score outside [0, 1].
double label_value(const Attribute& attribute, LabelMap map, double score);

/// 1 if the score is above the threshold, else 0; -1 (unlabelled) if either is NaN.
std::int8_t positive_flag(const Attribute& attribute, double score) noexcept;

/// What the labels of a text look like, of c attributes: variables `control_label_*`.
struct LabelStatistics {
  std::vector<double> rate;              // (c) share of positive labels; NaN without labels
  std::vector<double> threshold;         // (c) on the raw score
  std::vector<double> entropy;           // (c) of the rate, nats; NaN without labels
  std::vector<std::vector<double>> phi;  // (c, c) correlation; NaN where one does not vary
  std::int64_t sentences = 0;            // with a label at least

  /// Nats per sentence, an upper bound of what the labels carry together; attributes without labels
  /// carry nothing.
  double total_entropy() const noexcept;
};

/// Each number is over the sentences that are labelled for the one or two attributes concerned.
/// Source: phi: Yule (1912), J. R. Stat. Soc. 75, 579, the correlation of two attributes.
/// @param positive  (sentences, c) positive_flag() of each.
/// @throws Error unless its size is a multiple of c.
LabelStatistics label_statistics(std::span<const Attribute> attributes,
                                 std::span<const std::int8_t> positive);

}  // namespace depthgrid
