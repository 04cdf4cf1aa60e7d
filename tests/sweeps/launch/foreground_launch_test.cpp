#include "sweeps/launch/foreground_launch.hpp"

#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/support/pretended_clock.hpp"

namespace depthgrid::foreground_launch_test {
namespace {

/// Whether a silent process is ended in this time, s, of a pretended clock.
bool hangs_within(double seconds, ForegroundLaunch& launch, const PretendedClock& clock,
                  double patience) {
  constexpr double kBetween = 4;  // s
  for (const double end = clock.now() + seconds; clock.now() < end; clock.pass(kBetween)) {
    if (const auto over = launch.tick()) return over->hung;
  }
  for (const Stopwatch answer; answer.seconds() < patience; real_clock().wait(0.02)) {
    if (const auto over = launch.tick()) return over->hung;  // asked where it is, and killed
  }
  return false;
}

TEST(ForegroundLaunch, SilenceProvesNothingWhereThereIsNoSpaceForSignsOfLife) {
  const PretendedClock clock;
  const PretendedFs disk;
  disk.state().space = DiskSpace{.bytes = 0};
  ForegroundLaunch launch({.name = "the worker",
                           .command =
                               [](const std::string&) {
                                 return std::vector<std::string>{"/bin/sh", "-c",
                                                                 "trap '' QUIT; exec sleep 600"};
                               },
                           .hang = 1},  // 19 s of a start
                          clock, real_processes(), disk);
  EXPECT_FALSE(hangs_within(100, launch, clock, 0.5));
  disk.state().space = DiskSpace{.bytes = 1 << 30};
  EXPECT_TRUE(hangs_within(100, launch, clock, 60));
}

}  // namespace
}  // namespace depthgrid::foreground_launch_test
