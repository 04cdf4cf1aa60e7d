#include "sweeps/report/level_text.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace level_text_test {

TEST(LevelText, IsShortAndReadsBack) {
  EXPECT_EQ(level_text(1.0 / 6), "1/6");
  EXPECT_EQ(level_text(0.25), "0.25");
  EXPECT_EQ(level_text(3.1622776601683795e-4), shortest(3.1622776601683795e-4)) << "no fraction";
  EXPECT_EQ(level_text(-1.0 / 6), shortest(-1.0 / 6));
  EXPECT_EQ(level_text("1/L"), "1/L");
  for (int n = 1; n <= 1000; ++n) {
    const std::string text = level_text(1.0 / n);
    if (text.find('/') == text.npos) continue;
    EXPECT_EQ(fraction_of(text, {}), 1.0 / n) << text;
  }
}

TEST(LevelText, FractionsOfNothingElse) {
  EXPECT_EQ(fraction_of("2/3", {}), 2.0 / 3);
  EXPECT_EQ(fraction_of("1/L", 4), 0.25);
  EXPECT_EQ(fraction_of("1/L", {}), std::nullopt);
  for (const char* text : {"", "/", "1/", "/3", "1/0", "1/x", "data/1/2", "1e1/2", "-1/2"}) {
    EXPECT_EQ(fraction_of(text, 4), std::nullopt) << text;
  }
}

}  // namespace level_text_test
}  // namespace depthgrid
