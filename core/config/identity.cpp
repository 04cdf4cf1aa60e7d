#include "core/config/identity.hpp"

#include <algorithm>

#include "core/config/identity_text.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// What identity needs to know of a leaf, in the order of the paths.
struct IdentityLeaf {
  std::size_t leaf;
  std::string json_key;  // "\"train.lr\":"
  bool hashed;           // part of the cell's identity
  bool structural;       // part of the fusion key as it is
  bool alternative;      // part of the fusion key by its alternative
  bool words;            // the alternatives are words, not zero or not
};

const std::vector<IdentityLeaf>& identity_leaves() {
  static const std::vector<IdentityLeaf> leaves = [] {
    std::vector<IdentityLeaf> out;
    for (std::size_t i = 0; i < schema().size(); ++i) {
      const Leaf& leaf = schema()[i];
      const LeafClass c = leaf.leaf_class;
      if (c == LeafClass::Execution) continue;
      out.push_back({i, canonical_json(Value(leaf.path)) + ":", c != LeafClass::Observation,
                     c == LeafClass::Structural || c == LeafClass::Observation,
                     c == LeafClass::PerCellUnion, !leaf.words.empty()});
    }
    std::sort(out.begin(), out.end(), [](const IdentityLeaf& a, const IdentityLeaf& b) {
      return schema()[a.leaf].path < schema()[b.leaf].path;
    });
    return out;
  }();
  return leaves;
}

void append(std::string& out, const IdentityLeaf& leaf, std::string_view json) {
  if (out.back() != '{') out += ',';
  out += leaf.json_key;
  out += json;
}

void append_value(std::string& out, const IdentityLeaf& leaf, const Slots& slots) {
  const PooledValue& value = *slots.values[leaf.leaf];
  const PooledValue& digest = *slots.values[digest_slot()];
  if (leaf.leaf == leaf_rows().corpus && !digest.is_null()) {
    append(out, leaf, "\"file:" + *digest.get_if<std::string>() + "\"");
  } else {
    append(out, leaf, value.json);
  }
}

std::string ending() {
  return "},\"schema\":" + std::to_string(kSchemaVersion) + "}";
}

}  // namespace

std::string identity_text(const Slots& slots) {
  std::string out = "{\"leaves\":{";
  for (const IdentityLeaf& leaf : identity_leaves()) {
    if (leaf.hashed && slots.values[leaf.leaf] != slots.defaults[leaf.leaf]) {
      append_value(out, leaf, slots);
    }
  }
  return out + ending();
}

std::string structure_text(const Slots& slots) {
  std::string out = "{\"leaves\":{";
  for (const IdentityLeaf& leaf : identity_leaves()) {
    const PooledValue* value = slots.values[leaf.leaf];
    if (value == slots.defaults[leaf.leaf]) continue;
    if (leaf.structural) {
      append_value(out, leaf, slots);
    } else if (leaf.alternative) {
      const bool is_word = value->get_if<std::string>() != nullptr;
      if (is_word) {
        append(out, leaf, value->json);
      } else if (!leaf.words && value->number() != 0) {
        append(out, leaf, "\"on\"");
      }
    }
  }
  return out + ending();
}

std::string structure_digest(const std::string& text) {
  return hex(sha256(text), 16);
}

ValueMap changed_leaves(const Slots& slots) {
  ValueMap out;
  for (const IdentityLeaf& leaf : identity_leaves()) {
    const PooledValue& value = *slots.values[leaf.leaf];
    if (!leaf.hashed || &value == slots.defaults[leaf.leaf]) continue;
    const PooledValue& digest = *slots.values[digest_slot()];
    const bool user_text = leaf.leaf == leaf_rows().corpus && !digest.is_null();
    out.emplace_back(schema()[leaf.leaf].path, user_text
                                                   ? Value("file:" + *digest.get_if<std::string>())
                                                   : static_cast<const Value&>(value));
  }
  return out;
}

Sha256 cell_digest(const CellConfig& config) {
  ValuePool pool;
  return sha256(identity_text(slots_of(config, pool)));
}

CellId cell_id(const CellConfig& config) {
  return hex(cell_digest(config), 12);
}

std::string structure_key(const CellConfig& config) {
  ValuePool pool;
  return structure_digest(structure_text(slots_of(config, pool)));
}

}  // namespace depthgrid
