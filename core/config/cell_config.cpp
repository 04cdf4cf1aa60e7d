#include "core/config/cell_config.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/config/identity.hpp"
#include "core/config/resolve/resolve.hpp"
#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"

namespace depthgrid {
namespace {

struct SideKey {
  std::string_view key;
  std::size_t (*slot)();
};
/// Entries beside the leaves, as named by json().
constexpr SideKey kSideKeys[] = {{"data.corpus@sha256", digest_slot},
                                 {"model.init.from@sha256", start_digest_slot},
                                 {"model.init.from@depth", start_depth_slot},
                                 {"train.control.labels@sha256", labels_digest_slot},
                                 {"train.steering.prompts@sha256", prompts_digest_slot}};

std::shared_ptr<const ConfigBase> default_base() {
  static const std::shared_ptr<const ConfigBase> base = [] {
    auto pool = std::make_shared<ValuePool>();
    Slots slots(*pool);
    Deriver(pool).derive(slots);
    return base_of(pool, slots);
  }();
  return base;
}

[[noreturn]] void wrong_type(std::string_view path, const char* wanted, const Value& value) {
  throw Error("`" + std::string(path) + "` is not " + wanted + ": " + canonical_json(value));
}

template <class T>
const T& typed(const CellConfig& config, std::string_view path, const char* wanted) {
  const Value& value = config.at(path);
  if (const auto* found = value.get_if<T>()) return *found;
  wrong_type(path, wanted, value);
}

}  // namespace

CellConfig::CellConfig() : base_(default_base()) {}

CellConfig::CellConfig(std::shared_ptr<const ConfigBase> base, Delta delta)
    : base_(std::move(base)), delta_(std::move(delta)) {}

const PooledValue& CellConfig::slot(std::size_t index) const {
  for (const auto& [slot, value] : delta_) {
    if (slot == index) return *value;
  }
  return *base_->values[index];
}

const Value& CellConfig::at(std::string_view path) const {
  return slot(leaf_index(path));
}

bool CellConfig::flag(std::string_view path) const {
  return typed<bool>(*this, path, "a bool");
}

std::int64_t CellConfig::integer(std::string_view path) const {
  return typed<std::int64_t>(*this, path, "an integer");
}

std::optional<std::int64_t> CellConfig::integer_if(std::string_view path) const {
  return null(path) ? std::nullopt : std::optional(integer(path));
}

double CellConfig::real(std::string_view path) const {
  const Value& value = at(path);
  if (value.is_number()) return value.number();
  wrong_type(path, "a number", value);
}

const std::string& CellConfig::word(std::string_view path) const {
  return typed<std::string>(*this, path, "a word");
}

bool CellConfig::is_word(std::string_view path) const {
  return at(path).get_if<std::string>() != nullptr;
}

std::vector<std::string> CellConfig::names(std::string_view path) const {
  if (null(path)) return {};
  return is_word(path) ? std::vector<std::string>{word(path)} : words(path);
}

std::vector<std::string> CellConfig::words(std::string_view path) const {
  std::vector<std::string> out;
  for (const Value& item : typed<ValueList>(*this, path, "a list")) out.push_back(plain_text(item));
  return out;
}

std::string CellConfig::json() const {
  ValueMap map;
  for (std::size_t i = 0; i < schema().size(); ++i) map.emplace_back(schema()[i].path, slot(i));
  for (auto& entry : beside_leaves(*this)) map.push_back(std::move(entry));
  sort_map(map);
  return canonical_json(Value(std::move(map)));
}

ValueMap beside_leaves(const CellConfig& config) {
  ValueMap out;
  for (const auto& [key, index] : kSideKeys) {
    const Value& value = config.slot(index());
    if (!value.is_null()) out.emplace_back(key, value);
  }
  return out;
}

Slots slots_of(const CellConfig& config, ValuePool& pool) {
  Slots slots(pool);
  for (std::size_t i = 0; i < slot_count(); ++i) slots.written[i] = pool.intern(config.slot(i));
  // The pool outlives the deriver: borrowed, not shared.
  Deriver(std::shared_ptr<ValuePool>(std::shared_ptr<ValuePool>(), &pool)).derive(slots);
  return slots;
}

CellConfig make_config(const ValueMap& leaves) {
  Diagnostics diagnostics;
  const int file = diagnostics.add_text("configuration", "");
  auto pool = std::make_shared<ValuePool>();
  Resolver resolver(pool, diagnostics);
  Slots slots = resolver.start();
  const Place place{file, 0, 0};
  for (const auto& [path, value] : leaves) {
    const std::size_t leaf = find_leaf(path);
    if (leaf == schema().size()) {
      diagnostics.error(place, "no leaf '" + path + "'");
      continue;
    }
    if (const auto typed = leaf_value(schema()[leaf], node_of(value, place), diagnostics)) {
      slots.assign(leaf, pool->intern(*typed), place, Origin::Fixed);
    }
  }
  diagnostics.throw_if_failed();
  resolver.finalise(slots, place, false);
  resolver.finish(slots);
  diagnostics.throw_if_failed();
  return CellConfig(base_of(pool, slots), {});
}

CellConfig config_from_json(std::string_view json) {
  const Value read = value_from_json(json);
  const auto* map = read.get_if<ValueMap>();
  if (map == nullptr) {
    throw UserError(ExitCode::BadData, "a configuration is a JSON object of leaves");
  }
  Diagnostics diagnostics;
  const Place place{diagnostics.add_text("configuration", ""), 0, 0};
  auto pool = std::make_shared<ValuePool>();
  Slots slots(*pool);
  for (const auto& [path, value] : *map) {
    const std::size_t leaf = find_leaf(path);
    const auto* const side = std::ranges::find(kSideKeys, path, &SideKey::key);
    if (side != std::end(kSideKeys)) {
      slots.written[side->slot()] = pool->intern(value);
    } else if (leaf == schema().size()) {
      diagnostics.error(place, "no leaf '" + path + "': written by another version?");
    } else if (const auto typed = leaf_value(schema()[leaf], node_of(value, place), diagnostics)) {
      slots.assign(leaf, pool->intern(*typed), place, Origin::Fixed);
    }
  }
  try {
    diagnostics.throw_if_failed();
  } catch (const SweepErrors& problem) {
    throw UserError(ExitCode::BadData, problem.what());
  }
  Deriver(pool).derive(slots);
  return CellConfig(base_of(pool, slots), {});
}

}  // namespace depthgrid
