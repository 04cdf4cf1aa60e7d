#include "worker/process/life_reporter.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace life_reporter_test {

namespace fs = std::filesystem;

TEST(LifeReporter, TellsWhatTheWatchdogHasSeen) {
  const TemporaryFolder folder;
  const fs::path at = folder.path() / "board";
  Watchdog watchdog;
  LifeReporter reporter(watchdog, at);
  const ProgressChannel channel(at);
  watchdog.enter(WorkPhase::Auditing);
  EXPECT_EQ(channel.life().beats, 0) << "nothing is told between two ticks";
  reporter.tick();
  EXPECT_EQ(channel.life().beats, 1);
  EXPECT_EQ(channel.life().phase, WorkPhase::Auditing);
  watchdog.beat(1);
  watchdog.beat(2);
  reporter.tick();
  EXPECT_EQ(channel.life().beats, 3);
}

TEST(LifeReporter, TellsNothingWithoutANewSignOfLife) {
  const TemporaryFolder folder;
  const fs::path at = folder.path() / "board";
  Watchdog watchdog;
  LifeReporter reporter(watchdog, at);
  reporter.tick();
  EXPECT_FALSE(fs::exists(at / "life"));
  watchdog.beat();
  reporter.tick();
  ASSERT_TRUE(fs::remove(at / "life"));
  reporter.tick();
  EXPECT_FALSE(fs::exists(at / "life"));
}

TEST(LifeReporter, TellsSeveralTimesWithinWhatMayPassWithoutASign) {
  EXPECT_EQ(LifeReporter::period(8), 2);
  EXPECT_EQ(LifeReporter::period(900), 5);
  EXPECT_EQ(LifeReporter::period(0), 5) << "automatic";
  EXPECT_EQ(LifeReporter::period(-1), 5) << "for ever";
}

}  // namespace life_reporter_test
}  // namespace depthgrid
