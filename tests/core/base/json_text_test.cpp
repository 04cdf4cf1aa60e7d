#include "core/base/json_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace depthgrid::json_text_test {
namespace {

TEST(JsonText, RoundTripKeepsOrderAndNumbers) {
  const std::string text = R"({"b":1.1,"a":[null,true,"é"]})";
  EXPECT_EQ(json_text(parse_ordered_json(text)), text);
  EXPECT_EQ(json_text(parse_json(text)), R"({"a":[null,true,"é"],"b":1.1})");
  EXPECT_EQ(json_text(parse_json("[1]"), 1), "[\n 1\n]");
}

TEST(JsonText, WhatIsNoJsonIsRefusedOrDiscarded) {
  EXPECT_THROW(parse_json("{"), nlohmann::json::parse_error);
  EXPECT_THROW(parse_ordered_json(""), nlohmann::json::parse_error);
  EXPECT_TRUE(parse_json_or_discard("[1,").is_discarded());
  EXPECT_TRUE(parse_ordered_json_or_discard("").is_discarded());
}

TEST(JsonText, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(json_text(nlohmann::json("a\xff")), "\"a\xEF\xBF\xBD\"");
  EXPECT_THROW(strict_json_text("a\xff"), nlohmann::json::type_error);
}

}  // namespace
}  // namespace depthgrid::json_text_test
