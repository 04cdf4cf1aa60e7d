#include "core/config/resolve/read_conditions.hpp"

#include <algorithm>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

bool has_value(const PooledValue& value, const std::string& word) {
  const auto* text = value.get_if<std::string>();
  const std::string& found = text != nullptr ? *text : value.json;
  if (word.back() == '*')
    return found.starts_with(std::string_view(word).substr(0, word.size() - 1));
  return found == word;
}

std::size_t shared_parts(std::string_view a, std::string_view b) {
  const auto left = split(a, ".");
  const auto right = split(b, ".");
  std::size_t n = 0;
  while (n < left.size() && n < right.size() && left[n] == right[n]) ++n;
  return n;
}

}  // namespace

ReadConditions::ReadConditions() {
  for (const Leaf& leaf : schema()) {
    auto& condition = conditions_.emplace_back();
    if (leaf.read_when.empty()) continue;
    for (const auto alternative : split(leaf.read_when, " or ")) {
      auto& conjunction = condition.emplace_back();
      for (const auto term : split(alternative, " & ")) conjunction.push_back(parse_term(term));
    }
  }
}

ReadConditions::Term ReadConditions::parse_term(std::string_view text) {
  Term term;
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

bool ReadConditions::holds(const Term& term, const Slots& slots) {
  for (const std::size_t leaf : term.leaves) {
    for (const auto& word : term.words) {
      if (has_value(*slots.values[leaf], word)) return !term.negated;
    }
  }
  return term.negated;
}

bool ReadConditions::reads(std::size_t leaf, const Slots& slots) const {
  const auto& condition = conditions_[leaf];
  if (condition.empty()) return true;
  return std::any_of(condition.begin(), condition.end(), [&](const Conjunction& conjunction) {
    return std::all_of(conjunction.begin(), conjunction.end(),
                       [&](const Term& term) { return holds(term, slots); });
  });
}

bool ReadConditions::certain(std::size_t leaf, const Diagnostics& diagnostics) const {
  for (const Conjunction& conjunction : conditions_[leaf]) {
    for (const Term& term : conjunction) {
      for (const std::size_t one : term.leaves) {
        if (!diagnostics.trusts(one)) return false;
      }
    }
  }
  return true;
}

std::string ReadConditions::explain(std::size_t leaf, const Slots& slots) const {
  const auto leaves = schema();
  std::string wanted;
  std::string here;
  for (const Term& term : conditions_[leaf].front()) {
    std::string text;
    for (const std::size_t one : term.leaves) {
      std::string words;
      for (const auto& word : term.words) words += (words.empty() ? "" : " or ") + word;
      text += (text.empty() ? "`" : " or `") + std::string(leaves[one].path) + ": " +
              (term.negated ? "not " : "") + words + "`";
    }
    wanted += (wanted.empty() ? "" : " and ") + text;
    if (here.empty() && !holds(term, slots)) {
      for (const std::size_t one : term.leaves) {
        here += (here.empty() ? "`" : ", `") + std::string(leaves[one].path) + "` is `" +
                plain_text(*slots.values[one]) + "`";
      }
    }
  }
  std::string near;
  std::size_t best_shared = 0;
  std::size_t best_distance = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (i == leaf || !reads(i, slots)) continue;
    const std::size_t shared = shared_parts(leaves[leaf].path, leaves[i].path);
    const std::size_t distance = edit_distance(leaves[leaf].path, leaves[i].path);
    if (near.empty() || shared > best_shared ||
        (shared == best_shared && distance < best_distance)) {
      near = leaves[i].path;
      best_shared = shared;
      best_distance = distance;
    }
  }
  return "`" + std::string(leaves[leaf].path) + "` is read with " + wanted + "; here " + here +
         ": remove it, or put it under `when:` (nearest leaf that is read: `" + near + "`)";
}

}  // namespace depthgrid
