#include "core/config/gathered_execution.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"

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

std::optional<std::size_t> gathered_capacity_leaf(const Slots& slots) {
  const LeafRows& row = leaf_rows();
  const FamilyFacts& family = slots.family();
  if (family.teaches && slots.is(row.tdt_execution, "gathered")) return row.tdt_capacity;
  if (family.predicts && slots.is(row.mod_execution, "gathered")) return row.mod_capacity;
  return std::nullopt;
}

std::int64_t gathered_count(const Slots& slots) {
  const LeafRows& row = leaf_rows();
  const std::optional<std::size_t> capacity = gathered_capacity_leaf(slots);
  if (!capacity) throw Error("gathered_count: the cell gathers no tokens");
  const std::int64_t least = *capacity == row.tdt_capacity ? slots.integer(row.tdt_min_k) : 0;
  return capacity_of(slots.number(*capacity), slots.integer(row.seq_len), least);
}

std::optional<std::int64_t> gathered_count(const CellConfig& config) {
  const std::optional<std::int64_t> count = capacity_count(config);
  if (!count) return std::nullopt;
  const std::string under = "model." + config.word("model.family");
  return config.word(under + ".execution") == "gathered" ? count : std::nullopt;
}

}  // namespace depthgrid
