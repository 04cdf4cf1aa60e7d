#include "sweeps/supervise/disk_pause.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace disk_pause_test {

constexpr const char* kFull = "result.h5: No space left on device";

TEST(DiskPause, HoldsUntilTheNextTry) {
  DiskPause pause(300);  // a try every 10 s
  EXPECT_FALSE(pause.holds(0));
  ASSERT_TRUE(pause.failed(kFull, 5));
  EXPECT_TRUE(pause.holds(5));
  EXPECT_TRUE(pause.holds(14.9));
  EXPECT_FALSE(pause.holds(15));
  EXPECT_TRUE(pause.on(15)) << "one try, not all";
  pause.tried(15);
  EXPECT_TRUE(pause.holds(20));
}

TEST(DiskPause, EndsWithItsTimeALaunchThatGetsOnOrAWhileWithoutFailure) {
  DiskPause pause(20);
  for (double now = 0; now < 20; ++now) ASSERT_TRUE(pause.failed(kFull, now));
  EXPECT_FALSE(pause.failed(kFull, 20));
  pause.over();
  EXPECT_FALSE(pause.on(20));
  ASSERT_TRUE(pause.failed(kFull, 21)) << "another pause with all its time";
  EXPECT_FALSE(pause.on(25)) << "three tries without a failure";
  EXPECT_TRUE(pause.failed(kFull, 60));
}

TEST(DiskPause, WaitsForNothingThatDoesNotPassByItself) {
  DiskPause pause(300), none(0);
  EXPECT_FALSE(pause.failed("result.h5: Permission denied", 0));
  EXPECT_FALSE(none.failed(kFull, 0));
  EXPECT_TRUE(pause.failed("result.h5: Disk quota exceeded", 0));
  EXPECT_TRUE(pause.failed("", 1)) << "on a full disk a launch cannot even say why it ended";
}

}  // namespace disk_pause_test
}  // namespace depthgrid
