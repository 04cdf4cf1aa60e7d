#include "core/config/resolve/schema_condition.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/cell_config.hpp"

namespace depthgrid {
namespace schema_condition_test {

bool holds(std::string_view condition, const ValueMap& leaves) {
  const CellConfig config = make_config(leaves);
  return SchemaCondition(condition).holds(config.lookup());
}

TEST(SchemaCondition, AlternativesOfConjunctions) {
  constexpr std::string_view kCondition =
      "model.family=tong & model.norm=none or model.family=time_indexed";

  EXPECT_TRUE(holds(kCondition, {{"model.family", "time_indexed"}}));
  EXPECT_FALSE(holds(kCondition, {{"model.family", "tong"}}));
  EXPECT_TRUE(holds(kCondition, {{"model.family", "tong"}, {"model.norm", "none"}}));
  EXPECT_FALSE(holds(kCondition, {}));
  EXPECT_TRUE(holds("", {}));
}

TEST(SchemaCondition, AnyOfTheLeavesHasAnyOfTheValues) {
  constexpr std::string_view kCondition = "model.attention.bias|model.mlp.bias=false";

  EXPECT_FALSE(holds(kCondition, {}));
  EXPECT_TRUE(holds(kCondition, {{"model.mlp.bias", false}}));
  EXPECT_TRUE(holds("model.family=tdt|mod", {{"model.family", "mod"}}));
  EXPECT_FALSE(holds("model.family=tdt|mod", {{"model.family", "tong"}}));
}

TEST(SchemaCondition, NegationsNumbersNullAndPrefixes) {
  EXPECT_TRUE(holds("model.family!=tong", {}));
  EXPECT_FALSE(holds("model.family!=tong", {{"model.family", "tong"}}));
  EXPECT_TRUE(holds("model.n_layers=6", {}));
  EXPECT_FALSE(holds("model.n_layers=6", {{"model.n_layers", 60}}));
  EXPECT_TRUE(holds("model.init.from=null", {}));
  EXPECT_TRUE(holds("data.corpus=synthetic:*", {{"data.corpus", "synthetic:copy"}}));
  EXPECT_FALSE(holds("data.corpus=synthetic:*", {}));
}

TEST(SchemaCondition, AnUnknownLeafIsABug) {
  EXPECT_THROW(SchemaCondition("model.wings=2"), Error);
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a.b", "."), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(split("a or b", " or "), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(split("", "."), (std::vector<std::string_view>{""}));
  EXPECT_EQ(split("a.", "."), (std::vector<std::string_view>{"a", ""}));
}

}  // namespace schema_condition_test
}  // namespace depthgrid
