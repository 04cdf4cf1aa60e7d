#include "worker/process/crash_mark.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace crash_mark_test {

/// Recurses until the stack is full.
int overflow(int depth) {  // NOLINT(misc-no-recursion)
  volatile char page[4096];
  page[0] = static_cast<char>(depth);
  return depth == 0 ? page[0] : overflow(depth + 1) + page[0];
}

TEST(CrashMarkDeathTest, AFaultLeavesAMarkAndEndsTheProcessAsItWould) {
  const TemporaryFolder folder;
  const auto mark = [&](const char* name) { return folder.path() / name; };
  EXPECT_EXIT((mark_crashes(mark("abort")), std::abort()), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT((mark_crashes(mark("fault")), std::raise(SIGSEGV)), testing::KilledBySignal(SIGSEGV),
              "");
  EXPECT_EXIT((mark_crashes(mark("stack")), overflow(1)), testing::KilledBySignal(SIGSEGV), "");
  for (const char* name : {"abort", "fault", "stack"}) {
    EXPECT_TRUE(std::filesystem::exists(mark(name))) << name;
  }
}

TEST(CrashMarkDeathTest, AKillFromOutsideLeavesNone) {
  const TemporaryFolder folder;
  const auto mark = folder.path() / "mark";
  EXPECT_EXIT((mark_crashes(mark), std::raise(SIGKILL)), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT((mark_crashes(mark), std::raise(SIGTERM)), testing::KilledBySignal(SIGTERM), "");
  EXPECT_FALSE(std::filesystem::exists(mark));
}

}  // namespace crash_mark_test
}  // namespace depthgrid
