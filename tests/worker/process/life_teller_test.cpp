#include "worker/process/life_teller.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace life_teller_test {

namespace fs = std::filesystem;

TEST(LifeTeller, TellsWhatTheWatchdogHasSeen) {
  const TemporaryFolder folder;
  const fs::path at = folder.path() / "board";
  Watchdog watchdog;
  LifeTeller teller(watchdog, at);
  const ProgressChannel channel(at);
  watchdog.enter(WorkPhase::Auditing);
  EXPECT_EQ(channel.life().beats, 0) << "nothing is told between two ticks";
  teller.tick();
  EXPECT_EQ(channel.life().beats, 1);
  EXPECT_EQ(channel.life().phase, WorkPhase::Auditing);
  watchdog.beat(1);
  watchdog.beat(2);
  teller.tick();
  EXPECT_EQ(channel.life().beats, 3);
}

TEST(LifeTeller, TellsNothingWithoutANewSignOfLife) {
  const TemporaryFolder folder;
  const fs::path at = folder.path() / "board";
  Watchdog watchdog;
  LifeTeller teller(watchdog, at);
  teller.tick();
  EXPECT_FALSE(fs::exists(at / "life"));
  watchdog.beat();
  teller.tick();
  ASSERT_TRUE(fs::remove(at / "life"));
  teller.tick();
  EXPECT_FALSE(fs::exists(at / "life"));
}

TEST(LifeTeller, TellsSeveralTimesWithinWhatMayPassWithoutASign) {
  EXPECT_EQ(LifeTeller::period(8), 2);
  EXPECT_EQ(LifeTeller::period(900), 5);
  EXPECT_EQ(LifeTeller::period(0), 5) << "automatic";
  EXPECT_EQ(LifeTeller::period(-1), 5) << "for ever";
}

}  // namespace life_teller_test
}  // namespace depthgrid
