#include "core/base/fault_point.hpp"

#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace fault_point_test {

/// The environment of a test.
class Ordered {
 public:
  explicit Ordered(const char* text) { setenv("DEPTHGRID_FAULT", text, 1); }
  ~Ordered() { unsetenv("DEPTHGRID_FAULT"); }
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;
};

TEST(FaultPoint, WithoutAnOrderNothingIsArmed) {
  EXPECT_FALSE(FaultPoint().armed());
  EXPECT_FALSE(disk_full_on_order());
}

TEST(FaultPoint, EachFaultComesAtItsStepAndCellOnly) {
  const Ordered order("oom@7@first,error@9,device@11");
  const FaultPoint fault;
  ASSERT_TRUE(fault.armed());
  EXPECT_NO_THROW(fault.pass(7, {"second"}));
  EXPECT_NO_THROW(fault.pass(8, {"first"}));
  EXPECT_THROW(fault.pass(7, {"second", "first"}), std::bad_alloc);
  EXPECT_THROW(fault.pass(9, {"second"}), Error);
  EXPECT_THROW(fault.pass(11, {}), BackendError);
}

TEST(FaultPointDeathTest, EndsTheProcessAsOrdered) {
  const auto ends = [](const char* text) {
    const Ordered order(text);
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
    const Ordered order(text);
    EXPECT_THROW(FaultPoint(), UserError) << text;
    EXPECT_THROW(disk_full_on_order(), UserError) << text;
  }
}

TEST(FaultPoint, AFullDiskIsNoFaultOfAStep) {
  const Ordered order("enospc@3");
  EXPECT_FALSE(FaultPoint().armed());
}

}  // namespace fault_point_test
}  // namespace depthgrid
