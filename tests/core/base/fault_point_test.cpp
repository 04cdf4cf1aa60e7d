#include "core/base/fault_point.hpp"

#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace fault_point_test {

/// The environment of a test.
class Requested {
 public:
  explicit Requested(const char* text) { setenv("DEPTHGRID_FAULT", text, 1); }
  ~Requested() { unsetenv("DEPTHGRID_FAULT"); }
  Requested(const Requested&) = delete;
  Requested& operator=(const Requested&) = delete;
};

TEST(FaultPoint, WithoutARequestNothingIsArmed) {
  EXPECT_FALSE(FaultPoint().armed());
  EXPECT_FALSE(disk_full_on_request());
}

TEST(FaultPoint, EachFaultComesAtItsStepAndCellOnly) {
  const Requested given("oom@7@first,error@9,device@11");
  const FaultPoint fault;
  ASSERT_TRUE(fault.armed());
  EXPECT_NO_THROW(fault.pass(7, {"second"}));
  EXPECT_NO_THROW(fault.pass(8, {"first"}));
  EXPECT_THROW(fault.pass(7, {"second", "first"}), std::bad_alloc);
  EXPECT_THROW(fault.pass(9, {"second"}), Error);
  EXPECT_THROW(fault.pass(11, {}), BackendError);
}

TEST(FaultPointDeathTest, EndsTheProcessAsRequested) {
  const auto ends = [](const char* text) {
    const Requested given(text);
    FaultPoint().pass(1, {});
  };
  EXPECT_EXIT(ends("kill@1"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(ends("segv@1"), testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(ends("fpe@1"), testing::KilledBySignal(SIGFPE), "");
  EXPECT_EXIT(ends("abort@1"), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(ends("exit@1"), testing::ExitedWithCode(3), "");
}

TEST(FaultPoint, AnotherTextIsRefused) {
  for (const char* text :
       {"abort", "abort@", "abort@x", "nothing@1", "abort@1,nothing@2", "abort@-1"}) {
    const Requested given(text);
    EXPECT_THROW(FaultPoint(), UserError) << text;
    EXPECT_THROW(disk_full_on_request(), UserError) << text;
  }
}

TEST(FaultPoint, AFullDiskIsNoFaultOfAStep) {
  const Requested given("enospc@3");
  EXPECT_FALSE(FaultPoint().armed());
}

}  // namespace fault_point_test
}  // namespace depthgrid
