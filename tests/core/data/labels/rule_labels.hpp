#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/labels/label_source.hpp"

namespace depthgrid::test {

inline ScoredText scored_by_rules(std::span<const std::string> names, std::string_view text,
                                  Terminator kind) {
  std::vector<std::string> warnings;
  const LabelOptions by{.names = {names.begin(), names.end()}, .terminator = kind};
  const UsedText used{text, text};
  return label_source(by, {})->scored(std::span(&used, 1), warnings).front();
}

/// The attributes that rules find in a training text.
inline std::vector<Attribute> fit_attributes(std::span<const std::string> names,
                                             std::string_view text, Terminator kind) {
  const LabelOptions by{.names = {names.begin(), names.end()}, .terminator = kind};
  const auto rules = label_source(by, {});
  const ScoredText scored = scored_by_rules(names, text, kind);
  std::vector<Attribute> out;
  for (std::size_t a = 0; a < names.size(); ++a) {
    std::vector<double> own;
    for (std::size_t i = a; i < scored.scores.size(); i += names.size()) {
      own.push_back(scored.scores[i]);
    }
    out.push_back(rules->fitted(a, RankTable(std::span<const double>(own))));
  }
  return out;
}

/// A text under the labels of rules.
inline SentenceLabels label_text(std::span<const Attribute> attributes, std::string_view text,
                                 Terminator kind, std::span<const std::int64_t> ends,
                                 std::span<const LabelMap> maps) {
  std::vector<std::string> names;
  for (const Attribute& attribute : attributes) names.push_back(attribute.name);
  return labels_of(attributes, maps, text, scored_by_rules(names, text, kind), ends);
}

}  // namespace depthgrid::test
