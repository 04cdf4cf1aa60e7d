#include "core/data/labels/sentence_labels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/data/labels/attribute_rules.hpp"
#include "core/data/labels/token_ends.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

const AttributeRule& rule_of(const std::string& name) {
  const AttributeRule* const rule = find_rule(name);
  if (rule == nullptr) {
    throw UserError(
        ExitCode::Usage,
        fmt::format("model.control.names: no rule labels '{}'; known: {}", name, rule_names()));
  }
  return *rule;
}

std::string_view part_of(std::string_view text, const TextSegment& part) {
  return text.substr(static_cast<std::size_t>(part.begin),
                     static_cast<std::size_t>(part.end - part.begin));
}

/// Calls `use(sentence)` for each labelled segment.
template <class Use>
void each_labelled(std::string_view text, Terminator kind, const Use& use) {
  for (const TextSegment& part : segments(text, kind)) {
    const Sentence one = sentence(part_of(text, part));
    if (labelled(one)) use(one);
  }
}

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

std::vector<Attribute> fit_attributes(std::span<const std::string> names, std::string_view text,
                                      Terminator kind) {
  std::vector<const AttributeRule*> rules;
  for (const std::string& name : names) rules.push_back(&rule_of(name));
  std::vector<std::vector<double>> scores(rules.size());
  each_labelled(text, kind, [&](const Sentence& one) {
    for (std::size_t a = 0; a < rules.size(); ++a) scores[a].push_back(rules[a]->score(one));
  });
  std::vector<Attribute> all;
  for (std::size_t a = 0; a < rules.size(); ++a) {
    RankTable ranks{std::span<const double>(scores[a])};
    const double threshold = rules[a]->threshold.value_or(ranks.median());
    all.push_back({names[a], rules[a]->kind, threshold, std::move(ranks)});
  }
  return all;
}

std::int64_t labelled_segments(std::string_view text, Terminator kind) {
  std::int64_t n = 0;
  each_labelled(text, kind, [&](const Sentence&) { ++n; });
  return n;
}

SentenceLabels label_text(std::span<const Attribute> attributes, std::string_view text,
                          Terminator kind, std::span<const std::int64_t> ends,
                          std::span<const LabelMap> maps) {
  const std::size_t axes = attributes.size();
  if (maps.size() != axes) throw Error("each attribute needs a map from scores to u");
  std::vector<const AttributeRule*> rules;
  for (const Attribute& attribute : attributes) rules.push_back(&rule_of(attribute.name));
  const std::vector<TextSegment> parts = segments(text, kind);
  SentenceLabels labels;
  labels.axes = static_cast<std::int64_t>(axes);
  labels.segment = segment_of_token(parts, ends);
  labels.u.assign(parts.size() * axes, static_cast<float>(kNaN));
  labels.positive.assign(parts.size() * axes, -1);
  std::int32_t last = -1;  // segment with a word
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Sentence one = sentence(part_of(text, parts[i]));
    labels.previous.push_back(last);
    if (!one.words.empty()) last = static_cast<std::int32_t>(i);
    if (!labelled(one)) continue;
    for (std::size_t a = 0; a < axes; ++a) {
      const double score = rules[a]->score(one);
      const double u = label_value(attributes[a], maps[a], score);
      labels.u[i * axes + a] = static_cast<float>(u);
      labels.positive[i * axes + a] = positive_flag(attributes[a], score);
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
