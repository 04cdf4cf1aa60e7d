#include "core/config/schema/leaf_value.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace leaf_value_test {

/// The value as JSON, or "error: ..." with the first message.
std::string typed(std::string_view path, const std::string& yaml) {
  Diagnostics diagnostics;
  const int file = diagnostics.add_text("t", yaml);
  const auto node = read_yaml(diagnostics, file);
  const auto value =
      node ? leaf_value(schema()[leaf_index(path)], *node, diagnostics) : std::nullopt;
  try {
    diagnostics.throw_if_failed();
  } catch (const SweepErrors& errors) {
    return "error: " + errors.diagnostics().front().message;
  }
  return canonical_json(*value);
}

/// Whether the message names what matters: the value, the range, what to write instead.
bool refused(std::string_view path, const std::string& yaml, std::string_view named) {
  const std::string text = typed(path, yaml);
  return text.starts_with("error: ") && text.find(named) != std::string::npos;
}

TEST(LeafValue, IntegersArePlainDecimal) {
  EXPECT_EQ(typed("train.steps", "1000"), "1000");
  EXPECT_EQ(typed("train.steps", "+5"), "5");
  EXPECT_TRUE(refused("train.steps", "010", "write 10"));
  EXPECT_TRUE(refused("train.steps", "00", "write 0"));
  EXPECT_TRUE(refused("train.steps", "1_000", "write 1000"));
  EXPECT_TRUE(refused("train.steps", "1:30", "no colons"));
  EXPECT_TRUE(refused("train.steps", "0x10", "decimal"));
  EXPECT_TRUE(refused("train.steps", "1e3", "write 1000"));
  EXPECT_TRUE(refused("train.steps", "1.5", "fraction"));
  EXPECT_TRUE(refused("train.steps", "\"3\"", "'3'"));
  EXPECT_TRUE(refused("train.steps", "true", "'true'"));
  EXPECT_TRUE(refused("train.steps", "[1]", "`train.steps`"));
  EXPECT_TRUE(refused("train.steps", "-1", "(0…1000000000)"));
  EXPECT_TRUE(refused("seed", "9223372036854775808", "'9223372036854775808'"));
  EXPECT_EQ(typed("seed", "9223372036854775807"), "9223372036854775807");
}

TEST(LeafValue, RealsAreFiniteNumbersByValue) {
  EXPECT_EQ(typed("train.lr", "1e-4"), typed("train.lr", "0.0001"));
  EXPECT_EQ(typed("train.lr", "1"), "1");
  EXPECT_EQ(typed("train.lr", ".5"), "0.5");
  EXPECT_TRUE(refused("train.lr", ".inf", "finite"));
  EXPECT_TRUE(refused("train.lr", "nan", "finite"));
  EXPECT_TRUE(refused("train.lr", "1e999", "'1e999'"));
  EXPECT_TRUE(refused("train.lr", "1e-400", "'1e-400'"));
  EXPECT_TRUE(refused("train.lr", "-1", "(≥ 0)"));
  EXPECT_TRUE(refused("train.lr", "01.5", "'01.5'"));
  EXPECT_TRUE(refused("train.lr", "fast", "'fast'"));
  EXPECT_TRUE(refused("train.eps", "0", "(> 0)"));
  EXPECT_TRUE(refused("train.beta1", "1", "1 excluded"));
}

TEST(LeafValue, BooleansAreTrueAndFalseOnly) {
  EXPECT_EQ(typed("model.mlp.bias", "true"), "true");
  EXPECT_EQ(typed("model.mlp.bias", "false"), "false");
  EXPECT_TRUE(refused("model.mlp.bias", "yes", "write true"));
  EXPECT_TRUE(refused("model.mlp.bias", "on", "write true"));
  EXPECT_TRUE(refused("model.mlp.bias", "no", "write false"));
  EXPECT_TRUE(refused("model.mlp.bias", "off", "write false"));
  EXPECT_TRUE(refused("model.mlp.bias", "True", "write true"));
  EXPECT_TRUE(refused("model.mlp.bias", "1", "'1'"));
  EXPECT_TRUE(refused("model.mlp.bias", "'true'", "'true'"));
}

TEST(LeafValue, WordsAreOfTheListWithASuggestion) {
  EXPECT_EQ(typed("model.family", "standard"), "\"standard\"");
  EXPECT_EQ(typed("model.family", "'standard'"), "\"standard\"");
  EXPECT_TRUE(refused("model.family", "time_index", "'time_indexed'"));
  EXPECT_TRUE(refused("model.family", "7", "'7'"));
}

TEST(LeafValue, NumbersMayHaveWordsBesideThem) {
  EXPECT_EQ(typed("model.residual.scale", "1/L"), "\"1/L\"");
  EXPECT_EQ(typed("model.residual.scale", "learned_per_layer"), "\"learned_per_layer\"");
  EXPECT_EQ(typed("model.residual.scale", "0.5"), "0.5");
  EXPECT_TRUE(refused("model.residual.scale", "lerned", "'learned'"));
  EXPECT_EQ(typed("train.clip", "none"), "\"none\"");
  EXPECT_EQ(typed("packing.fuse", "off"), "\"off\"");
  EXPECT_EQ(typed("packing.fuse", "8"), "8");
}

TEST(LeafValue, NullOnlyWhereItMeansSomething) {
  EXPECT_EQ(typed("model.d_ff", "null"), "null");
  EXPECT_EQ(typed("eval.every", "~"), "null");
  EXPECT_TRUE(refused("model.d_model", "null", "null"));
}

TEST(LeafValue, ListsOfWordsAreSets) {
  EXPECT_EQ(typed("model.modulation.targets", "[up, q]"), R"(["q","up"])");
  EXPECT_EQ(typed("train.no_decay", "[]"), "[]");
  EXPECT_TRUE(refused("model.modulation.targets", "[q, q]", "twice"));
  EXPECT_TRUE(refused("model.modulation.targets", "[q, ups]", "'up'"));
  EXPECT_TRUE(refused("model.modulation.targets", "q", "write [q]"));
  EXPECT_FALSE(refused("model.modulation.targets", "everything", "write [everything]"));
}

TEST(LeafValue, GranularityIsAWordOrAMapOfTargets) {
  EXPECT_EQ(typed("model.modulation.granularity", "column"), "\"column\"");
  EXPECT_EQ(typed("model.modulation.granularity", "{up: row, q: column}"),
            R"({"q":"column","up":"row"})");
  EXPECT_TRUE(refused("model.modulation.granularity", "{gate: row}", "'gate'"));
  EXPECT_TRUE(refused("model.modulation.granularity", "{q: rows}", "'row'"));
}

TEST(LeafValue, StepsMayBePercentages) {
  EXPECT_EQ(typed("checkpoint.keep_at", "[0, 50 %, '100%']"), R"([0,"50%","100%"])");
  EXPECT_TRUE(refused("checkpoint.keep_at", "[101 %]", "'101 %'"));
  EXPECT_TRUE(refused("checkpoint.keep_at", "[half]", "'half'"));
}

TEST(LeafValue, RangesOfLayersKeepTheirOrder) {
  EXPECT_EQ(typed("model.replaced_layers", "[2, 4]"), "[2,4]");
  EXPECT_TRUE(refused("model.replaced_layers", "[4, 2]", "0 ≤ a < b"));
  EXPECT_TRUE(refused("model.replaced_layers", "[2, 2]", "0 ≤ a < b"));
  EXPECT_TRUE(refused("model.replaced_layers", "[-1, 2]", "0 ≤ a < b"));
  EXPECT_TRUE(refused("model.replaced_layers", "[1, 2, 3]", "0 ≤ a < b"));
  EXPECT_TRUE(refused("model.replaced_layers", "[1, x]", "0 ≤ a < b"));
  EXPECT_TRUE(refused("model.replaced_layers", "3", "'3'"));
}

TEST(LeafValue, PathsAreTextsOrLists) {
  EXPECT_EQ(typed("data.path", "a/b.txt"), "\"a/b.txt\"");
  EXPECT_EQ(typed("data.path", "[a, b]"), R"(["a","b"])");
  EXPECT_TRUE(refused("data.test", "[a, b]", "`data.test`"));
}

}  // namespace leaf_value_test
}  // namespace depthgrid
