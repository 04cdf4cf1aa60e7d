#include "core/data/labels/sentence_labels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "core/data/labels/token_ends.hpp"
#include "core/data/labels/words.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

/// Where the rows begin that have a label.
std::vector<std::int64_t> labelled_rows(const SentenceLabels& labels) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < labels.segments(); ++i) {
    const auto row = std::span(labels.u).subspan(static_cast<std::size_t>(i * labels.axes),
                                                 static_cast<std::size_t>(labels.axes));
    if (!std::ranges::all_of(row, [](float u) { return std::isnan(u); })) {
      rows.push_back(i * labels.axes);
    }
  }
  return rows;
}

template <class Number>
void swap_rows(std::vector<Number>& numbers, std::int64_t a, std::int64_t b, std::int64_t axes) {
  std::swap_ranges(numbers.begin() + a, numbers.begin() + a + axes, numbers.begin() + b);
}

}  // namespace

SentenceLabels labels_of(std::span<const Attribute> attributes, std::span<const LabelMap> maps,
                         std::string_view text, const ScoredText& scored,
                         std::span<const std::int64_t> ends) {
  const std::size_t axes = attributes.size(), n = scored.parts.size();
  if (maps.size() != axes || scored.scores.size() != n * axes) {
    throw Error("each attribute needs a map from scores to u, and each segment a score of it");
  }
  SentenceLabels labels;
  labels.axes = static_cast<std::int64_t>(axes);
  labels.segment = segment_of_token(scored.parts, ends);
  labels.u.reserve(n * axes);
  labels.positive.reserve(n * axes);
  std::int32_t last = -1;  // segment with a word
  for (std::size_t i = 0; i < n; ++i) {
    labels.previous.push_back(last);
    if (has_word(text_of(text, scored.parts[i]))) last = static_cast<std::int32_t>(i);
    for (std::size_t a = 0; a < axes; ++a) {
      const double score = scored.scores[i * axes + a];
      labels.u.push_back(static_cast<float>(label_value(attributes[a], maps[a], score)));
      labels.positive.push_back(positive_flag(attributes[a], score));
    }
  }
  return labels;
}

SentenceLabels shuffled(SentenceLabels labels, std::uint64_t seed) {
  const std::vector<std::int64_t> rows = labelled_rows(labels);
  const RandomWords random(seed, "labels/shuffle");
  for (std::size_t left = rows.size(); left > 1; --left) {
    const std::uint64_t drawn = random.below(left, 0, static_cast<std::uint32_t>(left), 0);
    if (drawn == left - 1) continue;
    swap_rows(labels.u, rows[left - 1], rows[drawn], labels.axes);
    swap_rows(labels.positive, rows[left - 1], rows[drawn], labels.axes);
  }
  return labels;
}

SentenceLabels constant(SentenceLabels labels) {
  std::ranges::fill(labels.u, 1.0F);
  return labels;
}

}  // namespace depthgrid
