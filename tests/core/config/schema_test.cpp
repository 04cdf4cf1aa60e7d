#include "core/config/schema.hpp"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/config/resolve/schema_condition.hpp"

namespace depthgrid {
namespace schema_test {

TEST(Schema, EveryLeafIsThereOnceAndDocumented) {
  std::set<std::string_view> paths;
  for (const Leaf& leaf : schema()) {
    EXPECT_TRUE(paths.insert(leaf.path).second) << leaf.path;
    EXPECT_FALSE(leaf.doc.empty()) << leaf.path;
    EXPECT_FALSE(leaf.unit.empty()) << leaf.path;
    EXPECT_EQ(leaf_index(leaf.path), find_leaf(leaf.path));
  }
  EXPECT_EQ(find_leaf("model.wings"), schema().size());
  EXPECT_THROW(leaf_index("model.wings"), Error);
}

TEST(Schema, NoLeafIsAlsoAGroup) {
  for (const Leaf& leaf : schema()) {
    for (const Leaf& other : schema()) {
      EXPECT_FALSE(other.path.starts_with(std::string(leaf.path) + ".")) << leaf.path;
    }
  }
}

TEST(Schema, DefaultsAreTyped) {
  EXPECT_EQ(default_value(leaf_index("train.lr")), Value(3e-4));
  EXPECT_EQ(default_value(leaf_index("train.steps")), Value(1000));
  EXPECT_TRUE(default_value(leaf_index("model.d_ff")).is_null());
  EXPECT_EQ(canonical_json(default_value(leaf_index("train.no_decay"))),
            R"(["embedding","norm","bias","residual","scalars","alpha"])");
  for (std::size_t i = 0; i < schema().size(); ++i) EXPECT_NO_THROW(default_value(i));
}

TEST(Schema, TheClassesAreThoseOfTheDesign) {
  const auto class_of = [](std::string_view path) { return schema()[leaf_index(path)].leaf_class; };

  EXPECT_EQ(class_of("train.lr"), LeafClass::PerCell);
  EXPECT_EQ(class_of("model.residual.scale"), LeafClass::PerCellUnion);
  EXPECT_EQ(class_of("model.d_model"), LeafClass::Structural);
  EXPECT_EQ(class_of("data.path"), LeafClass::Execution);
}

TEST(Schema, ConditionsOfReadingNameLeavesThatExist) {
  for (const Leaf& leaf : schema()) {  // an unknown path throws
    EXPECT_NO_THROW(SchemaCondition(leaf.read_when)) << leaf.path;
    EXPECT_NO_THROW(SchemaCondition(leaf.fused_when)) << leaf.path;
  }
}

TEST(Schema, JsonListsEveryLeaf) {
  const auto json = parse_json(schema_json());

  EXPECT_EQ(json["schema"], 1);
  ASSERT_EQ(json["leaves"].size(), schema().size());
  EXPECT_EQ(json["leaves"][0]["path"], "seed");
  EXPECT_EQ(json["grid"].size(), grid_keys().size());
}

TEST(Schema, TextListsEveryLeaf) {
  const std::string text = schema_text();
  for (const Leaf& leaf : schema()) {
    EXPECT_NE(text.find("  " + std::string(leaf.path) + "  "), std::string::npos) << leaf.path;
  }
}

TEST(Schema, JsonSchemaKnowsNestedLeavesAndTheGrid) {
  const auto json = parse_json(json_schema());
  const auto& properties = json["properties"];

  EXPECT_EQ(json["$schema"], "http://json-schema.org/draft-07/schema#");
  EXPECT_EQ(properties["model"]["properties"]["time"]["properties"]["nodes"]["$ref"],
            "#/definitions/model.time.nodes");
  EXPECT_EQ(json["definitions"]["model.d_model"]["maximum"], 8192);
  EXPECT_EQ(json["definitions"]["train.eps"]["exclusiveMinimum"], 0.0);
  EXPECT_FALSE(properties["model"]["additionalProperties"].get<bool>());
  for (const GridKey& key : grid_keys()) EXPECT_TRUE(properties.contains(key.name)) << key.name;
  for (const Leaf& leaf : schema()) {
    EXPECT_TRUE(json["definitions"].contains(leaf.path)) << leaf.path;
  }
  const auto& factors = json["definitions"]["factors"]["properties"];
  EXPECT_TRUE(factors.contains("train.lr"));
  EXPECT_FALSE(factors.contains("resources.device"));
}

TEST(Schema, TheReferencePageIsGenerated) {
  const std::string page = std::string(DEPTHGRID_SOURCE_DIR) + "/docs/configuration.md";
  if (std::getenv("DEPTHGRID_UPDATE") != nullptr) std::ofstream(page) << schema_markdown();
  std::ifstream file(page);
  std::ostringstream text;
  text << file.rdbuf();

  EXPECT_TRUE(text.str() == schema_markdown())
      << page << " is not what the table says: run this test with DEPTHGRID_UPDATE=1";
}

}  // namespace schema_test
}  // namespace depthgrid
