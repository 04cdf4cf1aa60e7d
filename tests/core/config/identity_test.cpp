#include "core/config/identity.hpp"

#include <gtest/gtest.h>

#include "core/config/schema.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace identity_test {

std::string id(const ValueMap& leaves) {
  return cell_id(make_config(leaves));
}
std::string key(const ValueMap& leaves) {
  return structure_key(make_config(leaves));
}

TEST(Identity, IdsAreFixedForGood) {
  // Stores hold these ids: a change here orphans finished cells. Adding a leaf must not touch them.
  EXPECT_EQ(id({}), hex(sha256(std::string_view(R"({"leaves":{},"schema":1})")), 12));
  EXPECT_EQ(id({{"train.lr", 1e-4}}),
            hex(sha256(std::string_view(R"({"leaves":{"train.lr":1e-4},"schema":1})")), 12));
  EXPECT_EQ(id({}), "b94738a58c4d");
  EXPECT_EQ(id({{"train.lr", 1e-4}, {"seed", 3}}), "356e0525d1ae");
  EXPECT_EQ(id({{"model.preset", "published/time_indexed_mlp"}}), "5770e93690e2");
  EXPECT_EQ(key({}), "b94738a58c4d0925");
  EXPECT_EQ(key({{"model.preset", "published/time_indexed_mlp"}}), "5770e93690e20998");
}

TEST(Identity, ADefaultWrittenOutChangesNothing) {
  for (const Leaf& leaf : schema()) {
    if (!leaf.read_when.empty() || leaf.default_text == "null") continue;
    const CellConfig defaults;
    EXPECT_EQ(id({{std::string(leaf.path), defaults.at(leaf.path)}}), id({})) << leaf.path;
  }
}

TEST(Identity, TheChangedLeavesAreWhatIsHashed) {
  for (const ValueMap& leaves :
       {ValueMap(), ValueMap{{"model.family", "mod"}, {"seed", 3}, {"train.lr", 1e-4}}}) {
    EXPECT_EQ(hex(sha256(identity_text(make_config(leaves).changed())), 12), id(leaves));
  }
}

TEST(Identity, AValueEqualToItsDerivationChangesNothing) {
  EXPECT_EQ(id({{"model.d_ff", 1024}}), id({}));
  EXPECT_EQ(id({{"model.d_model", 64}, {"model.d_ff", 256}}), id({{"model.d_model", 64}}));
  EXPECT_EQ(id({{"model.sublayers", "sequential"}}), id({}));
  EXPECT_EQ(id({{"model.family", "time_indexed"}, {"model.sublayers", "parallel"}}),
            id({{"model.family", "time_indexed"}}));
  EXPECT_EQ(id({{"model.vocab_size", 256}}), id({}));
  EXPECT_EQ(id({{"train.groups.head.lr", 3e-4}}), id({}));
  EXPECT_EQ(id({{"model.attention.implementation", "sdpa"}}), id({}));
  EXPECT_EQ(id({{"eval.splits", ValueList{"valid", "dev", "train"}}}), id({}));
  EXPECT_EQ(id({{"model.residual.scale", "1/L"}, {"model.n_layers", 4}}),
            id({{"model.residual.scale", 0.25}, {"model.n_layers", 4}}));
}

TEST(Identity, AChangedDefaultTakesNoFormerId) {
  // Before, tdt clipped by group and mod by one norm: their ids belong to cells trained so.
  const auto hashed = [](std::string_view text) { return hex(sha256(text), 12); };
  const std::string tdt = hashed(R"({"leaves":{"model.family":"tdt"},"schema":1})");
  const std::string mod = hashed(R"({"leaves":{"model.family":"mod"},"schema":1})");
  EXPECT_EQ(id({{"model.family", "tdt"}, {"train.clip_scope", "group"}}), tdt);
  EXPECT_EQ(id({{"model.family", "mod"}, {"train.clip_scope", "global"}}), mod);
  EXPECT_EQ(id({{"model.family", "mod"}}),
            hashed(R"({"leaves":{"model.family":"mod","train.clip_scope":"main"},"schema":1})"));
  EXPECT_NE(id({{"model.family", "tdt"}}), tdt);
  EXPECT_EQ(id({{"model.family", "tdt"}, {"train.clip", "none"}}),
            hashed(R"({"leaves":{"model.family":"tdt","train.clip":"none"},"schema":1})"));
  // Where no layer skips, nothing has changed.
  for (const char* scope : {"main", "global"}) EXPECT_EQ(id({{"train.clip_scope", scope}}), id({}));
  EXPECT_EQ(id({{"train.diverged_above", 1000.0}}), id({}));
  EXPECT_EQ(id({{"train.diverged_above", Value()}}), id({}));  // as stored plans have it
  EXPECT_NE(id({{"train.diverged_above", "none"}}), id({}));
}

TEST(Identity, EveryIdentityLeafCounts) {
  EXPECT_NE(id({{"train.lr", 1e-3}}), id({}));
  EXPECT_NE(id({{"model.n_layers", 5}}), id({}));
  EXPECT_NE(id({{"model.dropout.mlp", 0.1}}), id({}));
  EXPECT_NE(id({{"train.steps", 999}}), id({}));
  EXPECT_NE(id({{"model.d_ff", 1023}}), id({}));
}

TEST(Identity, LeavesOfTheRunDoNotCount) {
  EXPECT_EQ(id({{"resources.threads", 2}}), id({}));
  EXPECT_EQ(id({{"checkpoint.every", 5}}), id({}));
  EXPECT_EQ(id({{"data.path", "elsewhere"}}), id({}));
  EXPECT_EQ(key({{"packing.fuse", 4}}), key({}));
}

TEST(Identity, SeedsCountByWhatTheyResolveTo) {
  EXPECT_EQ(id({{"seed", 3}}), id({{"model.seed", 3}, {"data.seed", 3}}));
  EXPECT_EQ(id({{"seed", 3}, {"data.seed", 0}}), id({{"model.seed", 3}}));
  EXPECT_NE(id({{"seed", 3}}), id({}));
  EXPECT_NE(id({{"model.seed", 3}}), id({{"data.seed", 3}}));
}

TEST(Identity, PerCellLeavesShareAStructure) {
  EXPECT_EQ(key({{"train.lr", 0.1}, {"seed", 9}, {"train.clip", "none"}}), key({}));
  EXPECT_EQ(key({{"model.norm_eps", 1e-6}}), key({}));
  EXPECT_NE(key({{"model.n_layers", 5}}), key({}));
  EXPECT_NE(key({{"train.steps", 5}}), key({}));
}

TEST(Identity, CapacitiesAreStructureWhereTokensAreGathered) {
  const auto tdt = [](const std::string& execution, double gamma, ValueMap more = {}) {
    more.emplace_back("model.family", "tdt");
    more.emplace_back("model.tdt.execution", execution);
    more.emplace_back("model.tdt.capacity", gamma);
    more.emplace_back("data.seq_len", 32);
    return key(more);
  };
  EXPECT_EQ(tdt("masked", 0.5), tdt("masked", 0.25));
  EXPECT_NE(tdt("gathered", 0.25), tdt("masked", 0.25));
  EXPECT_NE(tdt("gathered", 0.5), tdt("gathered", 0.25));
  EXPECT_EQ(tdt("gathered", 0.25), tdt("gathered", 0.26));  // 8 of 32 tokens, both
  EXPECT_EQ(tdt("gathered", 0), tdt("gathered", 0.01));
  EXPECT_NE(tdt("gathered", 0), tdt("gathered", 0, {{"model.tdt.min_k", 1}}));
  EXPECT_EQ(tdt("gathered", 0.5), tdt("gathered", 0.5, {{"model.tdt.min_k", 1}}));
  EXPECT_NE(tdt("gathered", 0.5), tdt("gathered", 0.5, {{"model.tdt.dense_fraction", 0.1}}));
  EXPECT_EQ(tdt("masked", 0.5), tdt("masked", 0.5, {{"model.tdt.dense_fraction", 0.1}}));
  EXPECT_EQ(tdt("gathered", 0.5), tdt("gathered", 0.5, {{"model.tdt.o_ce_init", 2.0}}));
  const auto mod = [](double gamma) {
    return key({{"model.family", "mod"},
                {"model.mod.execution", "gathered"},
                {"model.mod.capacity", gamma}});
  };
  EXPECT_NE(mod(0.25), mod(0.5));
  EXPECT_EQ(mod(0.25), mod(0.2501));
}

TEST(Identity, OfUnionsOnlyTheAlternativeIsStructure) {
  EXPECT_EQ(key({{"model.residual.scale", 0.5}}), key({}));
  EXPECT_EQ(key({{"model.residual.scale", "1/L"}}), key({}));
  EXPECT_NE(key({{"model.residual.scale", "learned"}}), key({}));
  EXPECT_NE(key({{"model.residual.scale", "learned"}}),
            key({{"model.residual.scale", "learned_per_layer"}}));
  EXPECT_EQ(key({{"model.residual.scale", "learned"}, {"model.residual.init", 0.5}}),
            key({{"model.residual.scale", "learned"}}));
  EXPECT_NE(key({{"model.dropout.mlp", 0.1}}), key({}));
  EXPECT_EQ(key({{"model.dropout.mlp", 0.1}}), key({{"model.dropout.mlp", 0.2}}));
}

TEST(Identity, ChangedIsWhatIsHashed) {
  const ValueMap changed =
      make_config({{"train.lr", 0.0001}, {"model.family", "time_indexed"}, {"seed", 2}}).changed();

  EXPECT_EQ(canonical_json(Value(changed)),
            R"({"data.seed":2,"model.family":"time_indexed","model.seed":2,"train.lr":1e-4})");
}

}  // namespace identity_test
}  // namespace depthgrid
