#include "sweeps/run/supervisor.hpp"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/sweeps/run/pretended_backend.hpp"

namespace depthgrid::testing {
namespace supervisor_test {

using Backend = PretendedBackend;

TEST(Supervisor, StartsEachLaunchOnceAndNoMoreAtATimeThanThereAreSlots) {
  Backend backend(launches(5), slots(2));
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_EQ(backend.started, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(backend.most_at_once, 2U);
  EXPECT_NEAR(backend.now(), 3, 0.5) << "five launches of a second by two at a time";
}

TEST(Supervisor, HearsWhatALaunchHasToldBeforeItsEnd) {
  Backend backend(launches(3), slots(2));
  backend.run();
  EXPECT_EQ(backend.received, 3U);
}

TEST(Supervisor, ALargeTeamTakesItsSlots) {
  std::vector<LaunchPlan> both = launches(3);
  both[1].ranks = 2;
  Backend backend(both, slots(2));
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_EQ(backend.most_at_once, 2U) << "a and c beside each other, b alone";
}

TEST(Supervisor, ATeamThatNeverFitsIsRefused) {
  EXPECT_THROW(Backend(launches(1, 4), slots(2)).run(), UserError);
}

TEST(Supervisor, EveryLaunchHasCardsOfItsOwn) {
  SupervisorOptions options = slots(2);
  options.gpus = {"0", "1"};
  Backend backend(launches(3), options);
  backend.run();
  ASSERT_EQ(backend.gpus.size(), 3U);
  EXPECT_NE(backend.gpus[0], backend.gpus[1]);
  EXPECT_EQ(backend.gpus[2].size(), 1U);
}

TEST(Supervisor, WaitsForTheLaunchesThatOthersStartFrom) {
  std::vector<LaunchPlan> chain = launches(2);
  chain[1].after = {0};
  Backend backend(chain, slots(2));
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_EQ(backend.most_at_once, 1U);
}

TEST(Supervisor, MemoryLimitsWhatRunsAtATime) {
  SupervisorOptions options = slots(3);
  options.memory_bytes = 2.5;
  Backend backend(launches(4), options);
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_EQ(backend.most_at_once, 2U);
}

TEST(Supervisor, ACrashIsTriedAgainLaterAndLater) {
  Backend backend(launches(1), slots(1));
  backend.plays("a", {{.seconds = 1, .code = 139, .finalises = false},
                      {.seconds = 1, .code = 139, .finalises = false},
                      {.seconds = 1, .code = 0}});
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_EQ(backend.started.size(), 3U);
  const double least = 3 + 0.7 * (10 + 30), most = 3.6 + 1.3 * (10 + 30) + 2;
  EXPECT_GT(backend.now(), least);
  EXPECT_LT(backend.now(), most);
}

TEST(Supervisor, WhatHasUsedUpItsBudgetIsGivenUpAndTheRestGoesOn) {
  Backend backend(launches(2), slots(1));
  backend.plays("a", {{.seconds = 1, .code = 139, .finalises = false}});
  EXPECT_EQ(backend.run(), ExitCode::Partial);
  EXPECT_EQ(backend.given_up, std::vector<std::string>{"a"});
  EXPECT_EQ(std::ranges::count(backend.started, "a"), 3) << "the first try and two more";
  EXPECT_EQ(std::ranges::count(backend.started, "b"), 1);
}

TEST(Supervisor, ALaunchOfSeveralJobsIsTakenApartUntilItsCulpritIsAlone) {
  const Script crash{.seconds = 1, .code = 139, .finalises = false};
  std::vector<LaunchPlan> plan = launches(1);
  plan[0].rows = {0, 1, 2};
  plan[0].cells = {"0", "1", "2"};
  plan[0].jobs = {1, 2};
  plan.push_back({.id = "later", .rows = {3}, .cells = {"3"}, .after = {0}});
  const std::string alone = job_id({"0"}), pair = job_id({"1", "2"}), good = job_id({"1"}),
                    poison = job_id({"2"});
  Backend backend(plan, slots(2));
  for (const std::string& id : {std::string("a"), pair, poison}) backend.plays(id, {crash});
  RetryOptions retries;
  retries.breaker_failures = 1;  // all of these are failures of one launch
  EXPECT_EQ(backend.run(retries), ExitCode::Partial) << backend.log;
  EXPECT_EQ(backend.given_up, std::vector<std::string>{poison});
  const auto times = [&](const std::string& id) { return std::ranges::count(backend.started, id); };
  EXPECT_EQ(times("a"), 3) << "the first try and two more";
  EXPECT_EQ(times(pair), 1) << "its budget was used up before";
  EXPECT_EQ(times(poison), 1);
  EXPECT_EQ(times(alone), 1);
  EXPECT_EQ(times(good), 1);
  EXPECT_EQ(backend.started.back(), "later") << "it waits for every part";
}

TEST(Supervisor, WhatDoesNotFitInMemoryIsHalvedAtOnceAndACellAloneIsTriedAgain) {
  const Script oom{.seconds = 1, .code = 77, .finalises = false};
  std::vector<LaunchPlan> plan = launches(1);
  plan[0].rows = {0, 1, 2};
  plan[0].cells = {"0", "1", "2"};
  plan[0].jobs = {3};
  const std::string alone = job_id({"0"}), pair = job_id({"1", "2"}), large = job_id({"2"});
  Backend backend(plan, slots(1));
  for (const std::string& id : {std::string("a"), pair, large}) backend.plays(id, {oom});
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{1}; };
  EXPECT_EQ(backend.run(retries), ExitCode::Partial) << backend.log;
  EXPECT_EQ(backend.given_up, std::vector<std::string>{large});
  const auto times = [&](const std::string& id) { return std::ranges::count(backend.started, id); };
  EXPECT_EQ(times("a"), 1);
  EXPECT_EQ(times(pair), 1);
  EXPECT_EQ(times(alone), 1);
  EXPECT_EQ(times(large), 2) << "once more, in a process of its own";
}

TEST(Supervisor, ManyLaunchesThatDoNotFitAreNoBrokenMachine) {
  std::vector<LaunchPlan> plan;
  for (std::size_t i = 0; i < 7; ++i) {
    const std::string first = std::to_string(2 * i), second = std::to_string(2 * i + 1);
    plan.push_back({.id = "pair" + first, .rows = {2 * i, 2 * i + 1}, .cells = {first, second}});
    plan.back().jobs = {2};
  }
  Backend backend(plan, slots(2));
  for (const LaunchPlan& launch : plan) {
    backend.plays(launch.id, {{.seconds = 1, .code = 77, .finalises = false}});
  }
  RetryOptions retries;
  retries.breaker_failures = 1;
  retries.stop_after_consecutive = 1;
  EXPECT_EQ(backend.run(retries), ExitCode::Done) << backend.log;
}

TEST(Supervisor, AFaultOfTheNodeIsTriedAgain) {
  Backend backend(launches(1), slots(1));
  backend.plays("a", {{.seconds = 1, .code = 71, .finalises = false}, {.seconds = 1, .code = 0}});
  RetryOptions retries;
  retries.budget = [](std::string_view leaf) {
    return std::int64_t{leaf == "retry.infrastructure" ? 1 : 0};
  };
  EXPECT_EQ(backend.run(retries), ExitCode::Done) << backend.log;
}

TEST(Supervisor, ProgressFillsTheBudgetAgain) {
  Backend backend(launches(1), slots(1));
  std::deque<Script> scripts;
  for (std::int64_t i = 1; i <= 8; ++i) {
    scripts.push_back({.seconds = 1, .code = 139, .finalises = false, .checkpoint = i});
  }
  scripts.push_back({});
  backend.plays("a", scripts);
  RetryOptions retries;
  retries.breaker_failures = 100;
  EXPECT_EQ(backend.run(retries), ExitCode::Done);
}

TEST(Supervisor, ACardThatFailsTwiceGetsNoMoreLaunches) {
  SupervisorOptions options;
  options.slots = 2;
  options.gpus = {"0", "1"};
  Backend backend(launches(6), options);
  backend.fails_on = "1";
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{9}; };
  retries.backoff = 0.1;
  EXPECT_EQ(backend.run(retries), ExitCode::Done) << backend.log;
  EXPECT_EQ(std::ranges::count(backend.gpus, std::vector<std::string>{"1"}), 2);
  EXPECT_NE(backend.log.find("GPU 1 on"), std::string::npos) << backend.log;
}

TEST(Supervisor, WithoutACardLeftItStopsAndLeavesTheCellsPending) {
  SupervisorOptions options;
  options.slots = 1;
  options.gpus = {"0"};
  Backend backend(launches(2), options);
  backend.fails_on = "0";
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{9}; };
  retries.backoff = 0.1;
  EXPECT_EQ(backend.run(retries), ExitCode::TempFail) << backend.log;
  EXPECT_TRUE(backend.given_up.empty());
}

TEST(Supervisor, ATeamThatIsTooLargeForTheCardsLeftStopsItWithCellsPending) {
  SupervisorOptions options;
  options.slots = 2;
  options.gpus = {"0", "1"};
  std::vector<LaunchPlan> all = launches(7);
  all[5].ranks = 2;
  all[5].after = {0};
  all[6].after = {5};
  Backend backend(all, options);
  backend.plays("a", {{.seconds = 20}});
  backend.fails_on = "1";
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{9}; };
  retries.backoff = 0.1;
  EXPECT_EQ(backend.run(retries), ExitCode::TempFail) << backend.log;
  EXPECT_NE(backend.log.find("a launch of 2 ranks is left, and only 1 cards"), std::string::npos)
      << backend.log;
  EXPECT_TRUE(backend.given_up.empty());
  EXPECT_EQ(backend.count_finalised(), 5U) << "what fits the other card has been trained";
}

TEST(Supervisor, ACellThatFitsNowhereIsGivenUpWithItsPeak) {
  Backend backend(launches(1), slots(1));
  backend.plays("a", {{.seconds = 1,
                       .code = 77,
                       .finalises = false,
                       .says = "error: out of memory; peak of this rank 120 MB; no 8 bytes\n"
                               "frame #0: of out of memory\n"}});
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{1}; };
  EXPECT_EQ(backend.run(retries), ExitCode::Partial) << backend.log;
  EXPECT_NE(backend.log.find("are allowed): out of memory; peak of this rank 120 MB; no 8 bytes\n"),
            std::string::npos)
      << backend.log;
}

TEST(Supervisor, APauseOfItsOwnIsNoSilenceOfItsLaunches) {
  SupervisorOptions options = slots(1);
  options.hang = 1;  // 19 s of a start
  Backend backend(launches(1), options);
  backend.plays("a", {{.seconds = 30}});
  backend.pause_at = 2;  // for 25 s
  EXPECT_EQ(backend.run(), ExitCode::Done) << backend.log;
  EXPECT_EQ(backend.started.size(), 1U);
}

TEST(Supervisor, ABrokenMachineStopsItself) {
  Backend backend(launches(20), slots(2));
  for (char id = 'a'; id < 'a' + 20; ++id) {
    backend.plays(std::string(1, id), {{.seconds = 1, .code = 139, .finalises = false}});
  }
  RetryOptions retries;
  retries.breaker_failures = 5;
  EXPECT_EQ(backend.run(retries), ExitCode::Failed);
  EXPECT_NE(backend.log.find("retry.breaker_failures = 5"), std::string::npos) << backend.log;
  EXPECT_LE(backend.started.size(), 8U);
}

TEST(Supervisor, LaunchesInARowThatFailForGoodStopIt) {
  Backend backend(launches(6), slots(1));
  for (const char* id : {"a", "b", "d", "e", "f"}) backend.plays(id, {{.seconds = 1, .code = 4}});
  RetryOptions retries;
  retries.stop_after_consecutive = 2;
  EXPECT_EQ(backend.run(retries), ExitCode::Failed) << backend.log;
  EXPECT_EQ(backend.started, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(backend.log.find("retry.stop_after_consecutive = 2"), std::string::npos) << backend.log;
  retries.stop_after_consecutive = 3;
  Backend interrupted(launches(6), slots(1));
  for (const char* id : {"a", "b", "d", "e"}) interrupted.plays(id, {{.seconds = 1, .code = 4}});
  EXPECT_EQ(interrupted.run(retries), ExitCode::Partial) << "c, between them, has a result";
  EXPECT_EQ(interrupted.started.size(), 6U);
}

TEST(Supervisor, AnErrorIsTriedAsOftenAsItsOwnBudgetSays) {
  Backend backend(launches(2), slots(1));
  backend.plays("a", {{.seconds = 1, .code = 1, .finalises = false}});
  RetryOptions retries;
  retries.budget = [](std::string_view leaf) {
    return std::int64_t{leaf == "retry.error" ? 0 : 5};
  };
  EXPECT_EQ(backend.run(retries), ExitCode::Partial) << backend.log;
  EXPECT_EQ(std::ranges::count(backend.started, "a"), 1);
  EXPECT_EQ(backend.given_up, std::vector<std::string>{"a"});
}

TEST(Supervisor, OneLaunchThatFailsOftenIsNoBrokenMachine) {
  Backend backend(launches(2), slots(1));
  backend.plays("a", {{.seconds = 1, .code = 139, .finalises = false}});
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{4}; };
  retries.backoff = 0;
  retries.breaker_failures = 2;
  EXPECT_EQ(backend.run(retries), ExitCode::Partial);
  EXPECT_EQ(std::ranges::count(backend.started, "a"), 5);
}

TEST(Supervisor, AFullDiskOrAWrongConfigurationEndsTheRun) {
  for (const int code : {73, 78, 2, 65}) {
    Backend backend(launches(3), slots(1));
    backend.plays("a", {{.seconds = 1, .code = code, .finalises = false}});
    EXPECT_EQ(static_cast<int>(backend.run()), code);
    EXPECT_EQ(backend.started.size(), 1U);
  }
}

TEST(Supervisor, WhenARecordCannotBeKeptTheOtherLaunchesStopWithTheirCheckpoints) {
  Backend backend(launches(4), slots(3));
  backend.plays("a", {{.seconds = 1, .loses_folder = true}});
  backend.plays("b", {{.seconds = 100}});
  backend.plays("c", {{.seconds = 100}});
  EXPECT_EQ(backend.run(), ExitCode::CantCreate);
  EXPECT_EQ(backend.started.size(), 3U);
  EXPECT_EQ(backend.asked, (std::vector<std::string>{"b", "c"}));
  EXPECT_TRUE(backend.killed.empty());
  EXPECT_NE(backend.log.find("launches/a"), std::string::npos) << backend.log;
  EXPECT_EQ(launch_records(backend.folder()).size(), 2U) << "of b and c, which were stopped";
}

TEST(Supervisor, WhenALaunchCannotBeWrittenTheOthersStopWithTheirCheckpoints) {
  Backend backend(launches(3), slots(2));
  backend.plays("a", {{.seconds = 100}});
  backend.no_log_of = "b";
  EXPECT_EQ(backend.run(), ExitCode::CantCreate);
  EXPECT_EQ(backend.started, std::vector<std::string>{"a"});
  EXPECT_EQ(backend.asked, std::vector<std::string>{"a"});
  EXPECT_TRUE(backend.killed.empty());
}

TEST(Supervisor, ASignalStopsAllLaunches) {
  Backend backend(launches(3), slots(2));
  backend.plays("a", {{.seconds = 100}});
  backend.plays("b", {{.seconds = 100}});
  backend.stop_at = 5;
  EXPECT_EQ(backend.run(), ExitCode::TempFail);
  EXPECT_LT(backend.now(), 7);
  EXPECT_EQ(backend.started.size(), 2U);
}

TEST(Supervisor, WhatGivesSignsOfLifeMayTakeLong) {
  SupervisorOptions options = slots(1);
  options.hang = 1;
  Backend backend(launches(1), options);
  backend.plays("a", {{.seconds = 500, .lives = true}});
  EXPECT_EQ(backend.run(), ExitCode::Done) << backend.log;
  EXPECT_EQ(backend.started.size(), 1U);
}

TEST(Supervisor, WhoseNodeIsToBlameIsInItsRecord) {
  Backend backend(launches(1), slots(1));
  backend.plays("a", {{.seconds = 1, .code = 78, .finalises = false, .cause = "device"}});
  EXPECT_EQ(backend.run(), ExitCode::BadConfig);
  const auto records = launch_records(backend.folder());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].cause, "device");
}

TEST(Supervisor, SilenceForTooLongIsAHang) {
  SupervisorOptions options = slots(1);
  options.hang = 10;  // in training; a start may take four times as long, who watches adds 15 s
  Backend backend(launches(1), options);
  backend.plays("a", {{.seconds = 1e5}, {.seconds = 1}});
  EXPECT_EQ(backend.run(), ExitCode::Done);
  const auto records = launch_records(backend.folder());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].end, LaunchEnd::Hang);
  EXPECT_NEAR(records[0].seconds, 55, 2);
  EXPECT_EQ(records[1].end, LaunchEnd::Done);
}

TEST(Supervisor, FailFastEndsWithTheFirstReportedFailure) {
  SupervisorOptions options = slots(1);
  options.fail_fast = true;
  Backend backend(launches(3), options);
  backend.plays("a", {{.seconds = 1, .code = 4}});
  EXPECT_EQ(backend.run(), ExitCode::Partial);
  EXPECT_EQ(backend.started.size(), 1U);
}

TEST(Supervisor, WaitsForCellsWhoseOwnerMayComeBack) {
  Backend backend(launches(2), slots(1));
  backend.haunted = "a";
  backend.haunted_until = 20;
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_EQ(backend.started, (std::vector<std::string>{"b", "a"}));
  EXPECT_GT(backend.now(), 21);
  EXPECT_FALSE(std::filesystem::exists(launch_folder(backend.folder(), "a") / "gen-000002"))
      << "the launch is taken when its cells are";
}

TEST(Supervisor, LeavesAloneWhatAnotherOneHas) {
  Backend backend(launches(2), slots(2));
  LeaseKeeper other({.ttl = std::chrono::hours(1)});
  const auto folder = launch_folder(backend.folder(), "a");
  std::filesystem::create_directories(folder);
  auto held = other.try_acquire(folder);
  ASSERT_TRUE(held);
  backend.stop_at = 200;
  EXPECT_EQ(backend.run(), ExitCode::TempFail) << "a never comes free";
  EXPECT_EQ(backend.started, std::vector<std::string>{"b"});
}

}  // namespace supervisor_test
}  // namespace depthgrid::testing
