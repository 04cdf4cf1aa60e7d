#include "core/base/json_members.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/enum_words.hpp"
#include "core/base/json_text.hpp"

namespace depthgrid {
namespace json_members_test {

using Json = nlohmann::ordered_json;

struct Cat {
  std::string name = "none";
  std::int64_t lives = 9;
};
constexpr auto kCat = json_members("name", &Cat::name, "lives", &Cat::lives);

TEST(JsonMembers, StandInTheOrderOfTheirTableBehindWhatIsThere) {
  Json json = {{"schema", 1}};
  put_members(json, Cat{"Tom", 3}, kCat);
  EXPECT_EQ(json_text(json), R"({"schema":1,"name":"Tom","lives":3})");
  EXPECT_EQ(json_text(object_of<Json>(Cat(), kCat)), R"({"name":"none","lives":9})");
}

TEST(JsonMembers, AreReadAndOnlyWhatMayLackIsMissedWithoutAWord) {
  Cat cat;
  take_members(parse_ordered_json(R"({"lives": 3, "name": "Tom"})"), cat, kCat);
  EXPECT_EQ(cat.name, "Tom");
  EXPECT_EQ(cat.lives, 3);
  const Json old = parse_ordered_json(R"({"name": "Kit"})");
  take_members(old, cat, kCat, {"lives"});
  EXPECT_EQ(cat.name, "Kit");
  EXPECT_EQ(cat.lives, 3) << "as it was";
  EXPECT_THROW(take_members(old, cat, kCat), nlohmann::json::exception);
  const Json wrong = parse_ordered_json(R"({"name": 1, "lives": 3})");
  EXPECT_THROW(take_members(wrong, cat, kCat), nlohmann::json::exception);
  EXPECT_THROW(take_members(parse_ordered_json("[]"), cat, kCat), nlohmann::json::exception);
}

enum class Size : std::uint8_t { Small, Large };
constexpr std::array<std::string_view, 2> kSizes = {"small", "large"};

TEST(EnumWords, NameValuesAndAreReadBack) {
  EXPECT_EQ(enum_word(kSizes, Size::Large), "large");
  EXPECT_EQ(enum_of<Size>(kSizes, "small"), Size::Small);
  EXPECT_EQ(enum_of<Size>(kSizes, "huge"), std::nullopt);
}

}  // namespace json_members_test
}  // namespace depthgrid
