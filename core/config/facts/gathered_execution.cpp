#include "core/config/facts/gathered_execution.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/config/family_facts.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// @throws Error if the leaf holds something else.
template <class T>
const T& held(const ValueOfLeaf& leaf, const std::string& path) {
  const Value& value = leaf(path);
  if (const auto* found = value.get_if<T>()) return *found;
  throw Error("`" + path + "` is of another type: " + canonical_json(value));
}

/// "model.tdt." of a family whose layers skip tokens; else empty.
std::string skipping_section(const ValueOfLeaf& leaf) {
  const auto& family = held<std::string>(leaf, "model.family");
  return facts_of(family).skips ? "model." + family + "." : std::string();
}

}  // namespace

std::int64_t capacity_of(double gamma, std::int64_t tokens, std::int64_t min_k) {
  const auto k = static_cast<std::int64_t>(std::floor(gamma * static_cast<double>(tokens) + 1e-9));
  return std::clamp(k, std::min(min_k, tokens), tokens);
}

std::vector<std::int64_t> dynamic_layers(const ValueOfLeaf& leaf) {
  std::vector<std::int64_t> out;
  const std::string section = skipping_section(leaf);
  if (section.empty()) return out;
  const std::string path = section + "layers";
  if (const auto* list = leaf(path).get_if<ValueList>()) {
    for (const Value& v : *list) out.push_back(*v.get_if<std::int64_t>());
    return out;
  }
  const auto& word = held<std::string>(leaf, path);
  const std::int64_t layers = held<std::int64_t>(leaf, "model.n_layers");
  for (std::int64_t i = 0; i < layers; ++i) {
    if (word == "all" || (i % 2 == 1) == (word == "odd")) out.push_back(i);
  }
  return out;
}

std::optional<std::int64_t> capacity_count(const ValueOfLeaf& leaf) {
  const std::string section = skipping_section(leaf);
  if (section.empty()) return std::nullopt;
  const std::string least = section + "min_k";
  return capacity_of(leaf(section + "capacity").number(), held<std::int64_t>(leaf, "data.seq_len"),
                     find_leaf(least) == schema().size() ? 0 : held<std::int64_t>(leaf, least));
}

}  // namespace depthgrid
