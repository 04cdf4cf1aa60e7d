#include "sweeps/picture/chart_text.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace chart_text_test {

TEST(ChartText, NumbersHaveFourDigits) {
  EXPECT_EQ(chart_number(0), "0");
  EXPECT_EQ(chart_number(-0.0), "0");
  EXPECT_EQ(chart_number(2.38154), "2.382");
  EXPECT_EQ(chart_number(-0.00463741), "-0.004637");
  EXPECT_EQ(chart_number(1.5e-7), "1.5e-7");
  EXPECT_EQ(chart_number(2e10), "2e10");
  EXPECT_EQ(chart_number(kNaN), "–");
  EXPECT_EQ(chart_number(std::numeric_limits<double>::infinity()), "∞");
  EXPECT_EQ(chart_number(-std::numeric_limits<double>::infinity()), "-∞");
}

TEST(ChartText, WidthsGrowWithTheTextAndItsSize) {
  EXPECT_EQ(chart_text_width("", 14), 0);
  EXPECT_GT(chart_text_width("WWW", 14), chart_text_width("iii", 14));
  EXPECT_DOUBLE_EQ(chart_text_width("abc", 28), 2 * chart_text_width("abc", 14));
  EXPECT_DOUBLE_EQ(chart_text_width("é", 10), chart_text_width("αβ", 10) / 2);
  EXPECT_DOUBLE_EQ(chart_text_width("漢", 10), 2 * chart_text_width("α", 10));
}

TEST(ChartText, ALongLabelKeepsItsBeginningAndItsEnd) {
  const std::string label = "width=512,depth=12,lr=3e-4";
  EXPECT_EQ(cut_to_width(label, 1000, 14), label);
  const std::string cut = cut_to_width(label, 120, 14);
  EXPECT_LE(chart_text_width(cut, 14), 120);
  EXPECT_TRUE(cut.starts_with("width")) << cut;
  EXPECT_TRUE(cut.ends_with("e-4")) << cut;
  EXPECT_NE(cut.find("…"), std::string::npos);
  EXPECT_EQ(cut_to_width(label, 0, 14), "…");
  EXPECT_EQ(cut_to_width("", 0, 14), "");
}

TEST(ChartText, WhatIsCutIsCleanAlready) {
  EXPECT_EQ(chart_line("a\nb\x01"), "a b\\x01");
  EXPECT_EQ(cut_to_width("a\xE2\x80\xAE", 1000, 14), "a\\u202e");
}

}  // namespace chart_text_test
}  // namespace depthgrid
