#include "core/config/schema/value_pool.hpp"

#include "core/config/schema.hpp"

namespace depthgrid {

ValuePool::ValuePool() {
  null_ = intern(Value());
  for (std::size_t i = 0; i < schema().size(); ++i) defaults_.push_back(intern(default_value(i)));
}

const PooledValue* ValuePool::intern(Value value) {
  const auto* integer = value.get_if<std::int64_t>();
  if (integer != nullptr) {
    const auto found = integers_.find(*integer);
    if (found != integers_.end()) return found->second;
  }
  std::string json = canonical_json(value);
  // An integer and a real may have the same text, but are different values, in lists, too.
  std::string key = std::to_string(value.data.index());
  if (const auto* list = value.get_if<ValueList>()) {
    for (const Value& one : *list) key += std::to_string(one.data.index());
  }
  key += json;
  const auto found = index_.find(key);
  if (found != index_.end()) return found->second;
  PooledValue& kept = values_.emplace_back();
  kept.data = std::move(value.data);
  kept.json = std::move(json);
  index_.emplace(std::move(key), &kept);
  if (const auto* number = kept.get_if<std::int64_t>()) integers_.emplace(*number, &kept);
  return &kept;
}

}  // namespace depthgrid
