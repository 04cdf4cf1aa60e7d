#include "core/config/identity.hpp"

#include <algorithm>
#include <optional>

#include "core/config/gathered_execution.hpp"
#include "core/config/resolve/identity_text.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// Identity-related properties of a leaf, ordered by path.
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

/// "file:" and the digest if the leaf names a user's file: its content is the identity.
std::optional<std::string> content_of(std::size_t leaf, const Slots& slots) {
  const bool corpus = leaf == leaf_rows().corpus;
  if (!corpus && leaf != leaf_rows().init_from) return std::nullopt;
  const Value& digest = *slots.values[corpus ? digest_slot() : start_digest_slot()];
  if (digest.is_null()) return std::nullopt;
  return "file:" + *digest.get_if<std::string>();
}

void append_value(std::string& out, const IdentityLeaf& leaf, const Slots& slots) {
  const auto content = content_of(leaf.leaf, slots);
  append(out, leaf, content ? '"' + *content + '"' : slots.values[leaf.leaf]->json);
}

/// A cell and those that start from it must not share a job, so the length of the chain is in the
/// fusion key; the id at its end is not.
void append_start(std::string& out, const IdentityLeaf& leaf, const Slots& slots) {
  const PooledValue& depth = *slots.values[start_depth_slot()];
  if (!depth.is_null()) append(out, leaf, "\"cell+" + depth.json + '"');
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
  const std::optional<std::size_t> gathers = gathered_capacity_leaf(slots);
  for (const IdentityLeaf& leaf : identity_leaves()) {
    const PooledValue* value = slots.values[leaf.leaf];
    if (leaf.leaf == gathers) {  // the default γ too is another number of tokens than others
      append(out, leaf, std::to_string(gathered_count(slots)));
      continue;
    }
    if (value == slots.defaults[leaf.leaf]) continue;
    // While a share of the steps is dense, a sequence's every token is executed.
    const bool counts = gathers && leaf.leaf == leaf_rows().tdt_dense_fraction;
    if (leaf.leaf == leaf_rows().init_from) {
      append_start(out, leaf, slots);
    } else if (leaf.structural || counts) {
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
    const auto content = content_of(leaf.leaf, slots);
    out.emplace_back(schema()[leaf.leaf].path,
                     content ? Value(*content) : static_cast<const Value&>(value));
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
