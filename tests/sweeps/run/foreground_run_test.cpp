#include "sweeps/run/foreground_run.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace foreground_run_test {

constexpr int kStopped = static_cast<int>(ExitCode::TempFail);

/// A shell as the worker, in whose folder `tries` has a line for each start.
class ForegroundRunTest : public ::testing::Test {
 protected:
  int end_of(const std::string& script, std::int64_t budget = 2) {
    StopWatch signals;
    return end_of(script, signals, budget);
  }
  int end_of(const std::string& script, StopWatch& signals, std::int64_t budget = 2) {
    const std::string all = "cd '" + folder_.path().string() + "'; echo >>tries; " + script;
    return run_in_foreground(
        {.id = "prepare-1",
         .launch = {.name = "the preparation",
                    .command =
                        [&](const std::string& channel) {
                          return std::vector<std::string>{"/bin/sh", "-c",
                                                          "channel='" + channel + "'; " + all};
                        },
                    .hang = hang_},
         .store = folder_.path() / "store",
         .cells = {"c1"},
         .host = "n1",
         .retries = {.budget = [budget](std::string_view) { return budget; }, .backoff = 0.01},
         .state = [this] { return state_(); }},
        signals, events_);
  }
  std::size_t tries() const { return loose_text(folder_.path() / "tries").size(); }

  const TemporaryFolder folder_;
  EventLog events_{folder_.path() / "store"};
  double hang_ = 0;
  std::function<RunState()> state_ = [] { return RunState(); };
};

TEST_F(ForegroundRunTest, WhatWasKilledOrHasCrashedIsTriedAgain) {
  EXPECT_EQ(end_of("[ $(wc -l <tries) = 3 ] || kill -9 $$"), 0);
  EXPECT_EQ(tries(), 3U);
}

TEST_F(ForegroundRunTest, ItsEndsAreRecordedOnceItHasMadeTheStore) {
  const auto store = folder_.path() / "store";
  EXPECT_EQ(end_of("[ $(wc -l <tries) = 2 ] || kill -9 $$; mkdir store; echo {} >store/STORE.json"),
            0);
  std::vector<std::string> ends;
  for (const SweepEvent& event : read_sweep_events(store).events) {
    ends.push_back(std::string(name_of(event.kind)) + " " + event.end);
    EXPECT_TRUE(event.launch.starts_with("prepare-")) << event.launch;
  }
  EXPECT_EQ(ends,
            (std::vector<std::string>{"launch_began ", "launch_ended killed", "launch_again killed",
                                      "launch_began ", "launch_ended done"}));
}

TEST_F(ForegroundRunTest, ABudgetEnds) {
  EXPECT_EQ(end_of("kill -SEGV $$", 1), 128 + SIGSEGV);
  EXPECT_EQ(tries(), 2U);
}

TEST_F(ForegroundRunTest, WhatIsRefusedIsNotTriedAgain) {
  for (const ExitCode code :
       {ExitCode::BadConfig, ExitCode::NoInput, ExitCode::BadData, ExitCode::Failed}) {
    EXPECT_EQ(end_of("exit " + std::to_string(static_cast<int>(code))), static_cast<int>(code));
  }
  EXPECT_EQ(tries(), 4U);
}

TEST_F(ForegroundRunTest, WhatHasFailedIsRecordedWhereThereIsAStore) {
  const Store store = Store::open_or_create(folder_.path() / "store");
  EXPECT_EQ(end_of("[ $(wc -l <tries) = 2 ] || kill -9 $$"), 0);
  const auto records = launch_records(store.root());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].id.starts_with("prepare-")) << records[0].id;
  EXPECT_EQ(records[0].end, LaunchEnd::Killed);
  EXPECT_EQ(records[0].cells, std::vector<std::string>{"c1"});
  EXPECT_EQ(records[0].host, "n1");
  EXPECT_EQ(records[0].cause, "");
}

TEST_F(ForegroundRunTest, ANodeIsToBlameByItsCauseAndNotByACode) {
  const Store store = Store::open_or_create(folder_.path() / "store");
  EXPECT_EQ(end_of("exit 78"), 78);
  EXPECT_EQ(end_of("printf '078\\nn1\\n' >$channel/end; exit 78"), 78);
  EXPECT_EQ(end_of("printf '078\\nn1\\ndevice\\n' >$channel/end; exit 78"), 78);
  EXPECT_EQ(end_of("exit 127", 0), 127);
  std::vector<std::string> causes;
  for (const LaunchRecord& record : launch_records(store.root())) causes.push_back(record.cause);
  EXPECT_EQ(causes, (std::vector<std::string>{"", "", "device", "library"}))
      << "a configuration was refused, twice; a card; a program that cannot be loaded here";
}

TEST_F(ForegroundRunTest, WhatGivesNoSignOfLifeIsEndedAndTriedAgain) {
  hang_ = 1;  // 24 s in a phase that only who watches from outside judges; of a start 4
  const std::string signs = "echo '6 1' >$channel/life.new; mv $channel/life.new $channel/life; ";
  EXPECT_EQ(end_of(signs + "[ $(wc -l <tries) = 2 ] || exec sleep 600"), 0);
  EXPECT_EQ(tries(), 2U);
}

TEST_F(ForegroundRunTest, WhatCannotWriteItsSignsOfLifeIsNotTakenForHung) {
  class PassingClock final : public Clock {
   public:
    double now() const override { return now_ += 1; }
    double unix_time() const override { return now_; }
    void wait(double seconds) const override { now_ += seconds; }

   private:
    mutable double now_ = 0;
  } clock;
  std::filesystem::path channel;
  const auto command = [&](const std::string& folder) {
    channel = folder;
    return std::vector<std::string>{"sleep", "600"};
  };
  ForegroundLaunch launch({.name = "the worker", .command = command, .hang = 1}, clock);
  const auto last_of_ticks = [&](int n) {
    std::optional<ForegroundEnd> end;
    while (n-- > 0 && !end) end = launch.tick();
    return end;
  };
  std::filesystem::remove_all(channel);
  EXPECT_FALSE(last_of_ticks(1000));
  std::filesystem::create_directory(channel);
  EXPECT_FALSE(last_of_ticks(4)) << "it has not had the time to write one";
  std::optional<ForegroundEnd> end;
  for (const Stopwatch real; !end && real.seconds() < 60;) end = launch.tick();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->hung);
}

TEST_F(ForegroundRunTest, ASignalThatAsksTheWorkerToEndStopsTheRun) {
  for (const char* name : {"USR1", "TERM", "INT", "HUP"})
    EXPECT_EQ(end_of(std::string("kill -") + name + " $$"), kStopped) << name;
  EXPECT_EQ(tries(), 4U);
}

TEST_F(ForegroundRunTest, ASignalIsPassedOnAndNeverLost) {
  const std::string asks = "kill -USR1 " + std::to_string(getpid());
  StopWatch early;
  kill(getpid(), SIGUSR1);  // pending when the worker starts, which cannot listen yet
  EXPECT_EQ(end_of("sleep 60", early), kStopped);
  StopWatch meanwhile;
  EXPECT_EQ(
      end_of("trap 'echo told >told; exit 3' USR1; " + asks + "; while true; do sleep 0.02; done",
             meanwhile),
      3);
  EXPECT_TRUE(meanwhile.asked());
  EXPECT_EQ(loose_text(folder_.path() / "told"), "told\n");
  StopWatch late;
  end_of(asks, late);
  EXPECT_TRUE(late.asked()) << "it came when all was prepared";
}

TEST_F(ForegroundRunTest, ASecondIntEndsTheWorkerAtOnceAndSaysSo) {
  const std::string asks = "kill -INT " + std::to_string(getpid()) + "; ";
  StopWatch signals;
  const std::string worker = "trap '" + asks + "trap - INT' INT; " + asks;
  EXPECT_EQ(end_of(worker + "while true; do sleep 0.02; done", signals), 128 + SIGINT);
}

TEST_F(ForegroundRunTest, EveryFaultOfAProcessIsTriedAgain) {
  for (const char* name : {"SEGV", "ABRT", "BUS", "FPE", "ILL", "KILL"}) {
    std::filesystem::remove(folder_.path() / "tries");
    EXPECT_EQ(end_of(std::string("[ $(wc -l <tries) = 2 ] || kill -") + name + " $$"), 0) << name;
  }
  for (const int code : {71, 76, 77}) {
    std::filesystem::remove(folder_.path() / "tries");
    EXPECT_EQ(end_of("[ $(wc -l <tries) = 2 ] || exit " + std::to_string(code)), 0) << code;
  }
}

TEST_F(ForegroundRunTest, WhatCannotGoOnIsNotTriedAgain) {
  state_ = [] { return RunState{.goes_on = false}; };
  EXPECT_EQ(end_of("kill -SEGV $$"), 128 + SIGSEGV);
  EXPECT_EQ(tries(), 1U);
}

TEST_F(ForegroundRunTest, WhatIsNewFillsItsBudget) {
  std::int64_t reached = 0;
  state_ = [&] { return RunState{.reached = ++reached}; };
  EXPECT_EQ(end_of("[ $(wc -l <tries) = 5 ] || kill -SEGV $$", 1), 0);
  std::filesystem::remove(folder_.path() / "tries");
  state_ = [&] { return RunState{.reached = reached}; };
  EXPECT_EQ(end_of("[ $(wc -l <tries) = 5 ] || kill -SEGV $$", 1), 128 + SIGSEGV);
  EXPECT_EQ(tries(), 2U);
}

TEST_F(ForegroundRunTest, CtrlZStopsTheWorkerTogetherWithThisProcess) {
  // Continues its parent once that has stopped, and writes whether the worker had stopped before.
  // The stop comes once it has left the worker's group, with which it would be stopped, too. The
  // worker waits by a read: while it started a program, it could not stop by itself.
  const std::string script =
      "worker=$$; mkfifo go; (setsid sh -c \"echo >left; until grep -q '^State:.T' "
      "/proc/$PPID/status; do sleep 0.02; done; grep ^State: /proc/$worker/status >state; "
      "kill -CONT $PPID; echo >go\" &); "
      "until [ -e left ]; do sleep 0.02; done; kill -TSTP $PPID; read -r line <go";
  // A group of its own has this process as its shell.
  EXPECT_EXIT(setpgid(0, 0); std::exit(end_of(script)), ::testing::ExitedWithCode(0), "");
  EXPECT_NE(loose_text(folder_.path() / "state").find("T (stopped)"), std::string::npos);
}

TEST_F(ForegroundRunTest, CtrlZStopsNothingWhereNobodyCouldContinueIt) {
  const std::string script =
      "(setsid sh -c \"for n in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; grep -q '^State:.T' "
      "/proc/$PPID/status && echo >stopped && kill -CONT $PPID; done; echo >watched\" &); "
      "kill -TSTP $PPID; until [ -e watched ]; do sleep 0.02; done";
  EXPECT_EXIT(setsid(); std::exit(end_of(script)), ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "watched"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "stopped"));
}

TEST_F(ForegroundRunTest, WhatIgnoresTheEndOfItsTerminalIsNotStoppedByIt) {
  std::signal(SIGHUP, SIG_IGN);
  StopWatch signals;
  EXPECT_EQ(end_of("kill -HUP " + std::to_string(getpid()), signals), 0);
  EXPECT_FALSE(signals.asked());
  std::signal(SIGHUP, SIG_DFL);
}

TEST(StopWatch, ASignalThatComesAfterItEndsTheProcessWithTheSameCode) {
  EXPECT_EXIT(
      {
        {
          const StopWatch signals;
        }
        kill(getpid(), SIGTERM);
      },
      ::testing::ExitedWithCode(kStopped), "");
}

TEST_F(ForegroundRunTest, APauseEndsWithASignal) {
  StopWatch none;
  EXPECT_TRUE(none.wait_unasked(0.01));
  StopWatch one;
  kill(getpid(), SIGUSR1);
  EXPECT_FALSE(one.wait_unasked(60));
  EXPECT_FALSE(one.wait_unasked(60)) << "also one that came before";
}

}  // namespace foreground_run_test
}  // namespace depthgrid
