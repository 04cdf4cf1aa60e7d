#include "sweeps/launch/card_capacity.hpp"

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "core/config/identity.hpp"

namespace depthgrid {
namespace card_capacity_test {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

TEST(CardCapacity, ANumberOfLaunchesIsTakenAsItIs) {
  const CellConfig run = make_config({{"packing.cells_per_gpu", Value(std::int64_t{7})}});
  EXPECT_EQ(launches_per_card(run), 7);
  EXPECT_EQ(launches_per_card(run, 1 * kGiB, 100 * kGiB), 7);
}

TEST(CardCapacity, ByItselfACardHasOneLaunchUnlessSeveralAreKnownToFit) {
  const CellConfig run = make_config({});
  EXPECT_EQ(launches_per_card(run), 1);
  EXPECT_EQ(launches_per_card(run, std::nullopt, kGiB), 1);
  EXPECT_EQ(launches_per_card(run, 80 * kGiB, kNaN), 1);
  EXPECT_EQ(launches_per_card(run, 80 * kGiB, 64 * kGiB), 1);
  EXPECT_EQ(launches_per_card(run, 80 * kGiB, 100 * kGiB), 1) << "the worker splits it";
  EXPECT_EQ(launches_per_card(run, 80 * kGiB, 32 * kGiB), 2);
  EXPECT_EQ(launches_per_card(run, 80 * kGiB, 1 * kGiB), 4);
}

TEST(CardCapacity, TheMemoryOfCardsIsThatOfTheSmallest) {
  EXPECT_EQ(smallest_card("81559\n40960\n"), 40960.0 * 1024 * 1024);
  EXPECT_FALSE(smallest_card(""));
  EXPECT_FALSE(smallest_card("81559\n[N/A]\n"));
}

}  // namespace card_capacity_test
}  // namespace depthgrid
