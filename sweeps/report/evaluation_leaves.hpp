#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/config/value.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// What a leaf of `data` or `eval` changes for figures, as a set of bits; the first four are the
/// tokens of each split, in their order.
namespace seen {
inline constexpr unsigned kTrainText = 1, kDevText = 2, kValidText = 4, kTestText = 8;
inline constexpr unsigned kTexts = 15;
inline constexpr unsigned kTraining = 16;   // training losses: windows of the training text
inline constexpr unsigned kPeriodic = 32;   // evaluations during training
inline constexpr unsigned kFinal = 64;      // the evaluation of the last weights
inline constexpr unsigned kModes = 128;     // comparisons of execution modes during training
inline constexpr unsigned kHowOften = 256;  // how often there is an evaluation
inline constexpr unsigned kEvaluations = kPeriodic | kFinal | kModes | kHowOften;
}  // namespace seen

/// Bits of `seen` for a leaf: 0 for one that changes the model or its training only. A leaf of
/// `data` changes every text, one of `eval` every evaluation, unless the table in the source says
/// otherwise: so new leaves count. `data.corpus@sha256`, the digest of a user's files, is one.
unsigned seen_by(std::string_view leaf);

/// Whether the leaf says how a text becomes tokens, and nothing of the text.
bool makes_tokens(std::string_view leaf);

/// The leaves `data.*` and `eval.*` of every cell, but its seed, with train.batch_size and
/// train.clip, as far as the cell reads them.
struct EvaluationLeaves {
  std::vector<ValueMap> sets;        // distinct ones
  std::vector<std::size_t> of_cell;  // index of each cell's set

  /// The value of a leaf; null pointer where the cell does not read it, or nothing is known of it.
  const Value* find(std::size_t row, std::string_view leaf) const;
  /// The value as a number; NaN for null and whatever else is none.
  double number(std::size_t row, std::string_view leaf) const;
  /// Whether nothing that is known of two cells differs.
  bool same(std::size_t a, std::size_t b) const;
};

EvaluationLeaves evaluation_leaves(const StoredPlan& plan);

}  // namespace depthgrid
