#include "core/config/value.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace value_test {

TEST(Value, NumbersHaveTheShortestTextThatReadsBack) {
  EXPECT_EQ(shortest(0.0001), "1e-4");
  EXPECT_EQ(shortest(1e-4), "1e-4");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1.0), "1");
  EXPECT_EQ(shortest(-0.0), "0");
  EXPECT_EQ(shortest(1e6), "1e6");
  EXPECT_EQ(shortest(1.0 / 6), "0.16666666666666666");
  EXPECT_EQ(shortest(1e-12), "1e-12");
}

TEST(Value, CanonicalJsonSortsKeysThroughSortMapAndEscapesText) {
  ValueMap map = {{"b", 1}, {"a", ValueList{true, Value(), "x\"\n"}}};
  sort_map(map);

  EXPECT_EQ(canonical_json(Value(map)), R"({"a":[true,null,"x\"\u000a"],"b":1})");
}

TEST(Value, JsonReadsBackWithTypes) {
  const Value value = value_from_json(R"({"i":3,"r":0.5,"t":"x","l":[1],"n":null,"f":false})");
  const auto& map = *value.get_if<ValueMap>();

  EXPECT_EQ(*find_key(map, "i"), Value(3));
  EXPECT_EQ(*find_key(map, "r"), Value(0.5));
  EXPECT_EQ(*find_key(map, "f"), Value(false));
  EXPECT_TRUE(find_key(map, "n")->is_null());
  EXPECT_EQ(find_key(map, "absent"), nullptr);
}

TEST(Value, BrokenJsonIsBadData) {
  EXPECT_THROW(value_from_json("{\"a\":"), UserError);
}

TEST(Value, AnIntegerAndARealAreDifferentValuesOfEqualNumber) {
  EXPECT_FALSE(Value(1) == Value(1.0));
  EXPECT_EQ(Value(1).number(), Value(1.0).number());
  EXPECT_THROW(Value("1").number(), Error);
}

TEST(Value, PlainTextIsWhatAliasesShow) {
  EXPECT_EQ(plain_text(Value(ValueList{"q", "k"})), "q+k");
  EXPECT_EQ(plain_text(Value(ValueMap{{"q", "row"}, {"up", "column"}})), "q:row+up:column");
  EXPECT_EQ(plain_text(Value(3e-4)), "3e-4");
  EXPECT_EQ(plain_text(Value()), "null");
}

}  // namespace value_test
}  // namespace depthgrid
