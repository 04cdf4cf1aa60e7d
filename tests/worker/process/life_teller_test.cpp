#include "worker/process/life_teller.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "sweeps/live/live_board.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace life_teller_test {

TEST(LifeTeller, TellsWhatTheWatchdogHasSeen) {
  const TemporaryFolder folder;
  const LiveBoard board(folder.path() / "board");
  Watchdog watchdog;
  watchdog.enter(WorkPhase::Auditing);
  const LifeTeller teller(watchdog, folder.path() / "board", 0.04);
  for (int i = 0; i < 1000 && board.life().beats < 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(board.life().beats, 1);
  EXPECT_EQ(board.life().phase, WorkPhase::Auditing);
}

}  // namespace life_teller_test
}  // namespace depthgrid
