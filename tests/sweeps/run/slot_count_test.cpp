#include "sweeps/run/slot_count.hpp"

#include <gtest/gtest.h>

#include "tests/storage/synthetic_sweep.hpp"
#include "tests/support/pretended_clock.hpp"
#include "tests/sweeps/run/pretended_backend.hpp"

namespace depthgrid::testing {
namespace slot_count_test {

TEST(SlotCount, CountsTheSlotsOfASupervisorFromWhenItIsAtWork) {
  const TemporaryFolder folder;
  Sweep sweep = synthetic_sweep({1e-3});
  sweep.run = make_config({});
  const Store store = Store::open_or_create(folder.path() / "store");
  const PretendedClock clock;
  PretendedBackend backend(launches(1));
  const Supervisor supervisor(launches(1), backend.folder(), backend.leases(), slots(3), {},
                              backend);
  SlotCount count(sweep, store, false, clock);
  clock.pass(100);
  count.count(true);
  EXPECT_EQ(slot_sums(store.root()).wall, 0) << "it is not at work yet";
  count.begin(supervisor);
  clock.pass(20);
  count.count(false);
  EXPECT_EQ(slot_sums(store.root()).wall, 120) << "the first record is due";
  clock.pass(20);
  count.count(true);
  const SlotSums sums = slot_sums(store.root());
  EXPECT_EQ(sums.wall, 140);
  EXPECT_EQ(sums.seconds, 3 * 40);
  EXPECT_EQ(sums.busy, 0);
}

}  // namespace slot_count_test
}  // namespace depthgrid::testing
