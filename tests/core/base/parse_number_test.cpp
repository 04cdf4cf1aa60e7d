#include "core/base/parse_number.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace depthgrid {
namespace parse_number_test {

TEST(ParseNumber, IsTheWholeTextOrNone) {
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1e-3"), 1e-3);
  for (const char* text : {"", " 1", "1 ", "+1", "1.", "1,5", "0x1", "one"})
    EXPECT_EQ(parse_number<std::int64_t>(text), std::nullopt) << text;
  EXPECT_EQ(parse_number<std::uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1e999"), std::nullopt);
}

}  // namespace parse_number_test
}  // namespace depthgrid
