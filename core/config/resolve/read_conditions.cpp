#include "core/config/resolve/read_conditions.hpp"

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

std::size_t shared_parts(std::string_view a, std::string_view b) {
  const auto left = split(a, ".");
  const auto right = split(b, ".");
  std::size_t n = 0;
  while (n < left.size() && n < right.size() && left[n] == right[n]) ++n;
  return n;
}

}  // namespace

ReadConditions::ReadConditions() {
  for (const Leaf& leaf : schema()) conditions_.emplace_back(leaf.read_when);
}

bool ReadConditions::reads(std::size_t leaf, const Slots& slots) const {
  return conditions_[leaf].holds(slots.lookup());
}

bool ReadConditions::certain(std::size_t leaf, const Diagnostics& diagnostics) const {
  for (const auto& conjunction : conditions_[leaf].alternatives()) {
    for (const auto& term : conjunction) {
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
  for (const auto& term : conditions_[leaf].alternatives().front()) {
    std::string text;
    for (const std::size_t one : term.leaves) {
      std::string words;
      for (const auto& word : term.words) words += (words.empty() ? "" : " or ") + word;
      text += (text.empty() ? "`" : " or `") + std::string(leaves[one].path) + ": " +
              (term.negated ? "not " : "") + words + "`";
    }
    wanted += (wanted.empty() ? "" : " and ") + text;
    if (here.empty() && !term.holds(slots.lookup())) {
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
