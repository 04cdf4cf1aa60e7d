// Every test draws its data from the same start, whichever tests ran before it. Other data:
// --gtest_shuffle --gtest_random_seed=N, and --gtest_repeat for one seed after another.
#include <memory>

#include <gtest/gtest.h>

#include <ATen/Context.h>

namespace depthgrid::testing {
namespace {

class SeedEachTest final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    constexpr std::uint64_t kFirst = 20260101;
    at::manual_seed(kFirst +
                    static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed()));
  }
};

[[maybe_unused]] const bool kListens = [] {
  // The list of listeners owns what is appended to it.
  ::testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<SeedEachTest>().release());
  return true;
}();

}  // namespace
}  // namespace depthgrid::testing
