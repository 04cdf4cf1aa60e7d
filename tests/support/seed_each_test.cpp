// What every test with LibTorch starts from.
//
// Draws of data begin anew in each test, whichever ran before it. Other data: --gtest_shuffle
// --gtest_random_seed=N, and --gtest_repeat for one seed after another.
#include <memory>

#include <gtest/gtest.h>

#include <ATen/Context.h>

#include "core/base/reproducible_products.hpp"

namespace depthgrid::testing {
namespace seed_each_test {

class SeedEachTest final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    constexpr std::uint64_t kFirst = 20260101;
    // Without --gtest_shuffle GoogleTest's seed is the time of day.
    const int other =
        GTEST_FLAG_GET(shuffle) ? ::testing::UnitTest::GetInstance()->random_seed() : 0;
    at::manual_seed(kFirst + static_cast<std::uint64_t>(other));
  }
};

[[maybe_unused]] const bool kListens = [] {
  reproducible_products();  // as the worker does
  // The list of listeners owns what is appended to it.
  ::testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<SeedEachTest>().release());
  return true;
}();

}  // namespace seed_each_test
}  // namespace depthgrid::testing
