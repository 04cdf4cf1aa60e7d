#include "core/base/clock.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace depthgrid {
namespace clock_test {

TEST(Clock, WritesUtcAsIso8601) {
  EXPECT_EQ(iso_utc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso_utc(951'782'400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(iso_utc(1'772'366'400.999), "2026-03-01T12:00:00Z");  // parts of a second are cut off
}

TEST(Clock, UnixTimeIsSecondsOfThisCentury) {
  EXPECT_GT(unix_time(), 1.7e9);
  EXPECT_LT(unix_time(), 4.2e9);
}

TEST(Clock, OfThisMachineWaitsAndCounts) {
  const Clock& clock = real_clock();
  const double first = clock.now();
  clock.wait(0.02);
  EXPECT_GE(clock.now() - first, 0.02);
  EXPECT_NEAR(clock.unix_time(), unix_time(), 3600);
}

TEST(Stopwatch, CountsSecondsSinceItWasMade) {
  const Stopwatch clock;
  const double first = clock.seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double second = clock.seconds();

  EXPECT_GE(first, 0);
  EXPECT_GE(second - first, 0.02);
  EXPECT_LT(second, 3600);
}

}  // namespace clock_test
}  // namespace depthgrid
