#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/data/labels/label_table.hpp"
#include "core/data/labels/segments.hpp"

namespace depthgrid {

/// The labels of the segments of a text, for c attributes.
struct SentenceLabels {
  std::vector<std::int32_t> segment;     // (tokens) of each token, see segment_of_token()
  std::vector<float> u;                  // (segments, c) in [-1, 1]; NaN = unlabelled
  std::vector<std::int8_t> positive;     // (segments, c): 1, 0; -1 = unlabelled
  std::vector<std::int32_t> previous{};  // (segments) the last one before with a word; -1: none
  std::int64_t axes = 0;                 // c

  std::int64_t segments() const noexcept {
    return axes == 0 ? 0 : static_cast<std::int64_t>(positive.size()) / axes;
  }
};

/// The segments of a text and what is known of each: see label_source.hpp.
struct ScoredText {
  std::vector<TextSegment> parts;  // together they are the text
  std::vector<double> scores;      // (parts, c); NaN = unlabelled
};

/// Labels a text: the whole segment was scored, so a window that begins inside it has its label.
/// @param attributes  (c), fitted on the training text.
/// @param ends        (tokens) token_ends() of `text`; empty: no segments of tokens.
/// @param maps        (c), how each score becomes u.
/// @throws what label_value() throws; Error unless each attribute has a map and scores.
SentenceLabels labels_of(std::span<const Attribute> attributes, std::span<const LabelMap> maps,
                         std::string_view text, const ScoredText& scored,
                         std::span<const std::int64_t> ends);

/// `train.control.labels.shuffle: sentences`: the rows (u and flags, whole vectors) are permuted
/// among the segments that have a label, so that every marginal and every correlation between
/// attributes is kept, and no label is that of its sentence but by chance. A function of `seed`.
/// Source: Durstenfeld (1964), Algorithm 235, CACM 7, 420.
SentenceLabels shuffled(SentenceLabels labels, std::uint64_t seed);

/// `train.control.labels.shuffle: constant`: u = 1 everywhere, in unlabelled segments too, which
/// would be recognised otherwise. The flags stay: they say what the sentences are.
SentenceLabels constant(SentenceLabels labels);

}  // namespace depthgrid
