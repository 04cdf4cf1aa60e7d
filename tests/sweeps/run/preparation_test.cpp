#include "sweeps/run/preparation.hpp"

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace preparation_test {

constexpr int kStopped = static_cast<int>(ExitCode::TempFail);

/// A shell as the worker, in whose folder `tries` has a line for each start.
class PreparationTest : public ::testing::Test {
 protected:
  int end_of(const std::string& script, std::int64_t budget = 2) {
    StopWatch signals;
    return end_of(script, signals, budget);
  }
  int end_of(const std::string& script, StopWatch& signals, std::int64_t budget = 2) {
    const std::string all = "cd '" + folder_.path().string() + "'; echo >>tries; " + script;
    end_ = prepare_sweep(
        {.command =
             [&](const std::string& board) {
               return std::vector<std::string>{"/bin/sh", "-c", "board='" + board + "'; " + all};
             },
         .store = folder_.path() / "store",
         .cells = {"c1"},
         .host = "n1",
         .hang = hang_,
         .retries = {.budget = [budget](std::string_view) { return budget; }, .backoff = 0.01}},
        signals, events_);
    return end_.code;
  }
  std::size_t tries() const { return loose_text(folder_.path() / "tries").size(); }

  const TemporaryFolder folder_;
  EventLog events_{folder_.path() / "store"};
  double hang_ = 0;
  PreparationEnd end_;
};

TEST_F(PreparationTest, WhatWasKilledOrHasCrashedIsTriedAgain) {
  EXPECT_EQ(end_of("[ $(wc -l <tries) = 3 ] || kill -9 $$"), 0);
  EXPECT_EQ(tries(), 3U);
}

TEST_F(PreparationTest, ItsEndsAreRecordedOnceItHasMadeTheStore) {
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

TEST_F(PreparationTest, ABudgetEnds) {
  EXPECT_EQ(end_of("kill -SEGV $$", 1), 128 + SIGSEGV);
  EXPECT_EQ(tries(), 2U);
}

TEST_F(PreparationTest, WhatIsRefusedIsNotTriedAgain) {
  for (const ExitCode code :
       {ExitCode::BadConfig, ExitCode::NoInput, ExitCode::BadData, ExitCode::Failed}) {
    EXPECT_EQ(end_of("exit " + std::to_string(static_cast<int>(code))), static_cast<int>(code));
  }
  EXPECT_EQ(tries(), 4U);
}

TEST_F(PreparationTest, WhatHasFailedIsRecordedWhereThereIsAStore) {
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

TEST_F(PreparationTest, ANodeIsToBlameByItsCauseAndNotByACode) {
  const Store store = Store::open_or_create(folder_.path() / "store");
  EXPECT_EQ(end_of("exit 78"), 78);
  EXPECT_EQ(end_.cause, "") << "a configuration was refused";
  EXPECT_EQ(end_of("printf '078\\nn1\\ndevice\\n' >$board/end; exit 78"), 78);
  EXPECT_EQ(end_.cause, "device");
  std::multiset<std::string> causes;  // of two runs, whose records are named at random
  for (const LaunchRecord& record : launch_records(store.root())) causes.insert(record.cause);
  EXPECT_EQ(causes, (std::multiset<std::string>{"", "device"}));
  EXPECT_EQ(end_of("exit 127", 0), 127);
  EXPECT_EQ(end_.cause, "library");
}

TEST_F(PreparationTest, WhatGivesNoSignOfLifeIsEndedAndTriedAgain) {
  hang_ = 1;  // 24 s in a phase that only who watches from outside judges; of a start 4
  const std::string signs = "echo '6 1' >$board/life.new; mv $board/life.new $board/life; ";
  EXPECT_EQ(end_of(signs + "[ $(wc -l <tries) = 2 ] || exec sleep 600"), 0);
  EXPECT_EQ(tries(), 2U);
}

TEST_F(PreparationTest, ASignalThatAsksTheWorkerToEndStopsTheRun) {
  for (const char* name : {"USR1", "TERM", "INT", "HUP"})
    EXPECT_EQ(end_of(std::string("kill -") + name + " $$"), kStopped) << name;
  EXPECT_EQ(tries(), 4U);
}

TEST_F(PreparationTest, ASignalIsPassedOnAndNeverLost) {
  const std::string asks = "kill -USR1 " + std::to_string(getpid());
  StopWatch early;
  kill(getpid(), SIGUSR1);  // pending when the worker starts, which cannot listen yet
  EXPECT_EQ(end_of("sleep 60", early), kStopped);
  StopWatch meanwhile;
  EXPECT_EQ(
      end_of("trap 'echo told >told; exit 0' USR1; " + asks + "; while true; do sleep 0.02; done",
             meanwhile),
      kStopped);
  EXPECT_EQ(loose_text(folder_.path() / "told"), "told\n");
  StopWatch late;
  EXPECT_EQ(end_of(asks, late), kStopped) << "it came when all was prepared";
}

TEST_F(PreparationTest, APauseEndsWithASignal) {
  StopWatch none;
  EXPECT_TRUE(none.wait_unasked(0.01));
  StopWatch one;
  kill(getpid(), SIGUSR1);
  EXPECT_FALSE(one.wait_unasked(60));
  EXPECT_FALSE(one.wait_unasked(60)) << "also one that came before";
}

}  // namespace preparation_test
}  // namespace depthgrid
