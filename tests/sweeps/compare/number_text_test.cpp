#include "sweeps/compare/number_text.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace number_text_test {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(NumberText, NoMinusStandsBeforeAZero) {
  EXPECT_EQ(interval_text({.low = -35, .high = -0.3}), "[-35, 0]");
  EXPECT_EQ(interval_text({.low = -0.00001, .high = 2}), "[0.0, +2.0]");
  EXPECT_EQ(signed_text(-0.0, 4), "0.0000");
  EXPECT_EQ(signed_text(-0.0001, 4), "-0.0001");
  EXPECT_EQ(fixed_text(-0.004, 2), "0.00");
  EXPECT_EQ(signed_text(-kInfinite, 2), "-inf") << "no zero";
}

TEST(NumberText, NumbersFromTenMillionOnHaveFourDigits) {
  EXPECT_EQ(fixed_text(9999999, 1), "9999999.0");
  EXPECT_EQ(fixed_text(1.23456e300, 4), "1.235e+300");
  EXPECT_EQ(signed_text(-2e7, 4), "-2e+07");
  EXPECT_EQ(mean_text({.n = 3, .mean = 1.8e300, .sd = kInfinite}), "1.8e+300");
  EXPECT_EQ(difference_text(6.6667e299, kNaN), "+6.667e+299");
}

/// As that of one seed.
TEST(NumberText, ADifferenceWithoutASpreadShowsItsDigits) {
  EXPECT_EQ(difference_text(3.3e-5, kNaN), "+0.000033");
  EXPECT_EQ(difference_text(-0.0504, kNaN), "-0.0504");
  EXPECT_EQ(difference_text(12.5, kNaN), "+12.5000");
  EXPECT_EQ(difference_text(0, kNaN), "+0.0000");
  EXPECT_EQ(difference_text(3.3e-5, 0), "+0.000033");
  EXPECT_EQ(interval_text({.low = 3.3e-5, .high = 3.3e-5}), "[+0.000033, +0.000033]");
  EXPECT_EQ(difference_text(3.3e-5, 0.01), "+0.000033") << "as before";
  EXPECT_EQ(difference_text(0.5, 0.01), "+0.500");
}

TEST(NumberText, AMeanThatIsNoFiniteNumberIsNone) {
  EXPECT_EQ(mean_text({.n = 3, .mean = kInfinite, .sd = kNaN}), "-");
  EXPECT_EQ(mean_text({.n = 3, .mean = kNaN, .sd = kNaN}), "-");
  EXPECT_EQ(mean_text({.n = 3, .mean = 2.5, .sd = 0.25}), "2.50 ± 0.25");
}

}  // namespace number_text_test
}  // namespace depthgrid
