#include "core/config/gathered_execution.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace depthgrid {

std::int64_t capacity_of(double gamma, std::int64_t tokens, std::int64_t min_k) {
  const auto k = static_cast<std::int64_t>(std::floor(gamma * static_cast<double>(tokens) + 1e-9));
  return std::clamp(k, std::min(min_k, tokens), tokens);
}

std::optional<std::int64_t> capacity_count(const CellConfig& config) {
  const std::string family = config.word("model.family");
  const FamilyFacts& facts = facts_of(family);
  if (!facts.skips) return std::nullopt;
  const std::int64_t least = facts.teaches ? config.integer("model.tdt.min_k") : 0;
  return capacity_of(config.real("model." + family + ".capacity"), config.integer("data.seq_len"),
                     least);
}

std::int64_t capacity_count(const Slots& slots, std::size_t capacity) {
  const LeafRows& row = leaf_rows();
  const std::int64_t least = capacity == row.tdt_capacity ? slots.integer(row.tdt_min_k) : 0;
  return capacity_of(slots.number(capacity), slots.integer(row.seq_len), least);
}

}  // namespace depthgrid
