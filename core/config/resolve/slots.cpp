#include "core/config/resolve/slots.hpp"

#include "core/base/error.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

const LeafRows& leaf_rows() {
  static const LeafRows rows;
  return rows;
}

Slots::Slots(const ValuePool& pool)
    : written(pool.defaults()), places(slot_count()), origins(slot_count(), Origin::Default) {
  written.resize(slot_count(), pool.null());
  values = written;
  defaults = written;
}

void Slots::assign(std::size_t leaf, const PooledValue* value, Place place, Origin origin) {
  if (origins[leaf] > origin) return;
  written[leaf] = value;
  places[leaf] = place;
  origins[leaf] = origin;
}

void Slots::reset(std::size_t leaf, const ValuePool& pool) {
  written[leaf] = pool.defaults()[leaf];
  places[leaf] = Place();
  origins[leaf] = Origin::Default;
}

const FamilyFacts& Slots::family() const {
  const auto* text = values[leaf_rows().family]->get_if<std::string>();
  return facts_of(text != nullptr ? *text : std::string_view());
}

bool Slots::is(std::size_t leaf, std::string_view word) const {
  const auto* text = values[leaf]->get_if<std::string>();
  return text != nullptr && *text == word;
}

std::int64_t Slots::integer(std::size_t leaf) const {
  const auto* number = values[leaf]->get_if<std::int64_t>();
  if (number == nullptr) throw Error("not an integer: " + std::string(schema()[leaf].path));
  return *number;
}

bool Slots::has_word(std::size_t list_leaf, std::string_view word) const {
  const auto* list = values[list_leaf]->get_if<ValueList>();
  if (list == nullptr) return false;
  for (const auto& item : *list) {
    const auto* text = item.get_if<std::string>();
    if (text != nullptr && *text == word) return true;
  }
  return false;
}

void set_seed(Slots& slots, std::int64_t seed, ValuePool& pool) {
  const LeafRows& row = leaf_rows();
  const PooledValue* value = pool.intern(seed);
  slots.values[row.seed] = slots.defaults[row.seed] = value;
  for (const std::size_t leaf : {row.model_seed, row.data_seed}) {
    if (slots.written[leaf]->is_null()) slots.values[leaf] = value;
  }
}

std::shared_ptr<const ConfigBase> base_of(std::shared_ptr<ValuePool> pool, const Slots& slots) {
  return std::make_shared<const ConfigBase>(ConfigBase{std::move(pool), slots.values});
}

}  // namespace depthgrid
