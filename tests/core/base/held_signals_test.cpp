#include "core/base/held_signals.hpp"

#include <ctime>
#include <stdexcept>

#include <gtest/gtest.h>

namespace depthgrid {
namespace held_signals_test {

sigset_t mask() {
  sigset_t out;
  pthread_sigmask(SIG_SETMASK, nullptr, &out);
  return out;
}

bool holds(int number) {
  const sigset_t now = mask();
  return sigismember(&now, number) == 1;
}

TEST(HeldSignals, WaitUntilTheyAreLetGo) {
  ASSERT_FALSE(holds(SIGUSR1));
  {
    const HeldSignals held{SIGUSR1, SIGHUP};
    EXPECT_TRUE(holds(SIGUSR1) && holds(SIGHUP));
    EXPECT_FALSE(holds(SIGTERM));
    raise(SIGUSR1);  // would end this process
    const timespec at_once{};
    EXPECT_EQ(sigtimedwait(&held.held(), nullptr, &at_once), SIGUSR1);
  }
  EXPECT_FALSE(holds(SIGUSR1) || holds(SIGHUP));
}

TEST(HeldSignals, StayHeldWhereTheyWereBefore) {
  const HeldSignals before{SIGUSR2};
  {
    const HeldSignals more{SIGUSR2, SIGHUP};
    EXPECT_TRUE(holds(SIGUSR2) && holds(SIGHUP));
  }
  EXPECT_TRUE(holds(SIGUSR2));
  EXPECT_FALSE(holds(SIGHUP));
}

TEST(HeldSignals, AreLetGoByAnErrorAsWell) {
  try {
    const HeldSignals all;
    throw std::runtime_error("no thread to be had");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(holds(SIGTERM));
  }
}

TEST(HeldSignals, AThreadWithoutSignalsGetsNoneAndItsStarterKeepsItsOwn) {
  bool held_there = false;
  std::thread thread = thread_without_signals([&held_there] {
    held_there = holds(SIGINT) && holds(SIGTERM) && holds(SIGUSR1) && holds(SIGCHLD);
  });
  EXPECT_FALSE(holds(SIGINT));
  thread.join();
  EXPECT_TRUE(held_there);
}

}  // namespace held_signals_test
}  // namespace depthgrid
