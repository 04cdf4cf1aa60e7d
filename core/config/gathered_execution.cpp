#include "core/config/gathered_execution.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/config/resolve/slots.hpp"

namespace depthgrid {
namespace {

/// From the family's own leaves: all have a `capacity`, some a `min_k`.
std::int64_t count_of(std::string_view family, const auto& value_of) {
  const std::string section = "model." + std::string(family) + ".";
  const std::size_t least = find_leaf(section + "min_k");
  return capacity_of(
      value_of(leaf_index(section + "capacity")).number(),
      *value_of(leaf_rows().seq_len).template get_if<std::int64_t>(),
      least == schema().size() ? 0 : *value_of(least).template get_if<std::int64_t>());
}

}  // namespace

std::int64_t capacity_of(double gamma, std::int64_t tokens, std::int64_t min_k) {
  const auto k = static_cast<std::int64_t>(std::floor(gamma * static_cast<double>(tokens) + 1e-9));
  return std::clamp(k, std::min(min_k, tokens), tokens);
}

std::vector<std::int64_t> dynamic_layers(const CellConfig& config) {
  std::vector<std::int64_t> out;
  const std::string& family = config.word("model.family");
  if (!facts_of(family).skips) return out;
  const std::string path = "model." + family + ".layers";
  if (const auto* list = config.at(path).get_if<ValueList>()) {
    for (const Value& v : *list) out.push_back(*v.get_if<std::int64_t>());
    return out;
  }
  const std::string& word = config.word(path);
  for (std::int64_t i = 0; i < config.integer("model.n_layers"); ++i) {
    if (word == "all" || (i % 2 == 1) == (word == "odd")) out.push_back(i);
  }
  return out;
}

std::optional<std::int64_t> capacity_count(const CellConfig& config) {
  const std::string& family = config.word("model.family");
  if (!facts_of(family).skips) return std::nullopt;
  return count_of(family, config.lookup());
}

std::int64_t capacity_count(const Slots& slots) {
  return count_of(slots.family().name, slots.lookup());
}

}  // namespace depthgrid
