#include "core/base/grouped.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace depthgrid {
namespace grouped_test {

TEST(Grouped, SeparatesThousandsByCommas) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(4902912), "4,902,912");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(-100), "-100");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(grouped(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

}  // namespace grouped_test
}  // namespace depthgrid
