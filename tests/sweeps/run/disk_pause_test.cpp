#include "sweeps/run/disk_pause.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>
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
  for (const int code : {EACCES, EPERM, EROFS, ENOTDIR, EIO, ENOENT, ESTALE, EFBIG}) {
    const std::string told = fmt::format("x: cannot write: {} (errno {})", strerror(code), code);
    EXPECT_FALSE(pause.failed(told, 0)) << told;
  }
  EXPECT_FALSE(
      pause.failed("file write failed: errno = 5, error message = 'Input/output error'", 0))
      << "as HDF5 says it";
  EXPECT_FALSE(none.failed(kFull, 0));
  EXPECT_FALSE(
      pause.failed("gen-000001: is the claim of ada, and this store is not shared", 0, true))
      << "a sentence of this process, which would name a full disk";
  EXPECT_TRUE(pause.failed("result.h5: Disk quota exceeded (errno 122)", 0));
  EXPECT_TRUE(pause.failed("", 1)) << "on a full disk a launch cannot even say why it ended";
}

}  // namespace disk_pause_test
}  // namespace depthgrid
