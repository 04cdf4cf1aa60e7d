#include "core/config/identity.hpp"

#include <algorithm>
#include <optional>

#include "core/base/digest.hpp"
#include "core/config/facts/gathered_execution.hpp"
#include "core/config/resolve/schema_condition.hpp"
#include "core/config/resolve/slots.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// Identity-related properties of a leaf, ordered by path.
struct IdentityLeaf {
  std::size_t leaf;
  std::string json_key;   // "\"train.lr\":"
  bool hashed;            // part of the cell's identity
  SchemaCondition fuses;  // where the row's FusionPart holds
};

const std::vector<IdentityLeaf>& identity_leaves() {
  static const std::vector<IdentityLeaf> leaves = [] {
    std::vector<IdentityLeaf> out;
    for (std::size_t i = 0; i < schema().size(); ++i) {
      const Leaf& leaf = schema()[i];
      const LeafClass c = leaf.leaf_class;
      if (c == LeafClass::Execution) continue;
      out.push_back({i, canonical_json(Value(leaf.path)) + ":", c != LeafClass::Observation,
                     SchemaCondition(leaf.fused_when)});
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

/// A leaf in whose place the content of a user's file is the identity, and where its digest is.
struct ContentLeaf {
  std::size_t leaf, digest;
};

/// "file:" and the digest if the leaf names a user's file; of labels by scores "scores:".
std::optional<std::string> content_of(std::size_t leaf, const Slots& slots) {
  const LeafRows& row = leaf_rows();
  const ContentLeaf all[] = {{row.corpus, digest_slot()},
                             {row.init_from, start_digest_slot()},
                             {row.label_source, labels_digest_slot()},
                             {row.prompts, prompts_digest_slot()}};
  const auto* const found = std::ranges::find(all, leaf, &ContentLeaf::leaf);
  if (found == std::end(all)) return std::nullopt;
  const Value& digest = *slots.values[found->digest];
  if (digest.is_null()) return std::nullopt;
  const bool scores = leaf == row.label_source && slots.is(leaf, "scores");
  return (scores ? "scores:" : "file:") + *digest.get_if<std::string>();
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

std::string identity_text(const ValueMap& changed) {
  return "{\"leaves\":" + canonical_json(Value(changed)) + ending().substr(1);
}

std::string structure_key(const Slots& slots) {
  std::string out = "{\"leaves\":{";
  for (const IdentityLeaf& leaf : identity_leaves()) {
    const PooledValue* value = slots.values[leaf.leaf];
    const Leaf& row = schema()[leaf.leaf];
    const bool by_itself = value == slots.defaults[leaf.leaf];
    // Even the default capacity stands for a number of tokens.
    if (by_itself && row.fusion != FusionPart::TokenCount) continue;
    if (!leaf.fuses.holds(slots.lookup())) continue;
    switch (row.fusion) {
      case FusionPart::Nothing:
      case FusionPart::InCount:
        break;
      case FusionPart::Whole:
        append_value(out, leaf, slots);
        break;
      case FusionPart::Alternative:
        if (value->get_if<std::string>() != nullptr) {
          append(out, leaf, value->json);
        } else if (value->get_if<ValueList>() != nullptr) {
          append(out, leaf, "\"on\"");
        } else if (row.words.empty() && value->number() != 0) {
          append(out, leaf, "\"on\"");
        }
        break;
      case FusionPart::TokenCount:
        append(out, leaf, std::to_string(*capacity_count(slots.by_path())));
        break;
      case FusionPart::ChainLength:
        append_start(out, leaf, slots);
        break;
    }
  }
  return hex(sha256(out + ending()), 16);
}

std::string label_digest(const CellConfig& config) {
  const auto* digest = config.slot(labels_digest_slot()).get_if<std::string>();
  return digest == nullptr ? std::string() : *digest;
}

FusionPart fusion_part(std::size_t leaf, const CellConfig& config) {
  const Leaf& row = schema()[leaf];
  return SchemaCondition(row.fused_when).holds(config.lookup()) ? row.fusion : FusionPart::Nothing;
}

ValueMap CellConfig::changed() const {
  ValuePool pool;
  const Slots slots = slots_of(*this, pool);
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

}  // namespace depthgrid
