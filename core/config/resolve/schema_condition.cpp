#include "core/config/resolve/schema_condition.hpp"

#include <algorithm>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

bool has_value(const PooledValue& value, const std::string& word) {
  const auto* text = value.get_if<std::string>();
  const std::string& found = text != nullptr ? *text : value.json;
  if (word.back() == '*')
    return found.starts_with(std::string_view(word).substr(0, word.size() - 1));
  return found == word;
}

SchemaCondition::Term parse_term(std::string_view text) {
  SchemaCondition::Term term;
  auto equals = text.find('=');
  const auto words = text.substr(equals + 1);
  if (text[equals - 1] == '!') {
    term.negated = true;
    --equals;
  }
  for (const auto leaf : split(text.substr(0, equals), "|")) {
    term.leaves.push_back(leaf_index(leaf));
  }
  for (const auto word : split(words, "|")) term.words.emplace_back(word);
  return term;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

SchemaCondition::SchemaCondition(std::string_view text) {
  if (text.empty()) return;
  for (const auto alternative : split(text, " or ")) {
    auto& conjunction = alternatives_.emplace_back();
    for (const auto term : split(alternative, " & ")) conjunction.push_back(parse_term(term));
  }
}

bool SchemaCondition::Term::holds(const ValueOf& value_of) const {
  for (const std::size_t leaf : leaves) {
    for (const auto& word : words) {
      if (has_value(value_of(leaf), word)) return !negated;
    }
  }
  return negated;
}

bool SchemaCondition::holds(const ValueOf& value_of) const {
  return alternatives_.empty() ||
         std::ranges::any_of(alternatives_, [&](const Conjunction& conjunction) {
           return std::ranges::all_of(conjunction,
                                      [&](const Term& term) { return term.holds(value_of); });
         });
}

}  // namespace depthgrid
