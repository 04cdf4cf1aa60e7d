#include "sweeps/run/supervisor.hpp"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/sweeps/run/pretended_world.hpp"

namespace depthgrid::testing {
namespace supervisor_test {

using World = PretendedWorld;

TEST(Supervisor, StartsEachLaunchOnceAndNoMoreAtATimeThanThereAreSlots) {
  World world(launches(5), slots(2));
  EXPECT_EQ(world.run(), ExitCode::Done);
  EXPECT_EQ(world.started, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(world.most_at_once, 2U);
  EXPECT_NEAR(world.now(), 3, 0.5) << "five launches of a second by two at a time";
}

TEST(Supervisor, HearsWhatALaunchHasToldBeforeItsEnd) {
  World world(launches(3), slots(2));
  world.run();
  EXPECT_EQ(world.received, 3U);
}

TEST(Supervisor, ALargeTeamTakesItsSlots) {
  std::vector<LaunchPlan> both = launches(3);
  both[1].ranks = 2;
  World world(both, slots(2));
  EXPECT_EQ(world.run(), ExitCode::Done);
  EXPECT_EQ(world.most_at_once, 2U) << "a and c beside each other, b alone";
}

TEST(Supervisor, ATeamThatNeverFitsIsRefused) {
  EXPECT_THROW(World(launches(1, 4), slots(2)).run(), UserError);
}

TEST(Supervisor, EveryLaunchHasCardsOfItsOwn) {
  SupervisorOptions options = slots(2);
  options.gpus = {"0", "1"};
  World world(launches(3), options);
  world.run();
  ASSERT_EQ(world.gpus.size(), 3U);
  EXPECT_NE(world.gpus[0], world.gpus[1]);
  EXPECT_EQ(world.gpus[2].size(), 1U);
}

TEST(Supervisor, WaitsForTheLaunchesThatOthersStartFrom) {
  std::vector<LaunchPlan> chain = launches(2);
  chain[1].after = {0};
  World world(chain, slots(2));
  EXPECT_EQ(world.run(), ExitCode::Done);
  EXPECT_EQ(world.most_at_once, 1U);
}

TEST(Supervisor, MemoryLimitsWhatRunsAtATime) {
  SupervisorOptions options = slots(3);
  options.memory_bytes = 2.5;
  World world(launches(4), options);
  EXPECT_EQ(world.run(), ExitCode::Done);
  EXPECT_EQ(world.most_at_once, 2U);
}

TEST(Supervisor, ACrashIsTriedAgainLaterAndLater) {
  World world(launches(1), slots(1));
  world.plays("a", {{.seconds = 1, .code = 139, .settles = false},
                    {.seconds = 1, .code = 139, .settles = false},
                    {.seconds = 1, .code = 0}});
  EXPECT_EQ(world.run(), ExitCode::Done);
  EXPECT_EQ(world.started.size(), 3U);
  const double least = 3 + 0.7 * (10 + 30), most = 3.6 + 1.3 * (10 + 30) + 2;
  EXPECT_GT(world.now(), least);
  EXPECT_LT(world.now(), most);
}

TEST(Supervisor, WhatHasUsedUpItsBudgetIsSetAsideAndTheRestGoesOn) {
  World world(launches(2), slots(1));
  world.plays("a", {{.seconds = 1, .code = 139, .settles = false}});
  EXPECT_EQ(world.run(), ExitCode::Partial);
  EXPECT_EQ(world.aside, std::vector<std::string>{"a"});
  EXPECT_EQ(std::ranges::count(world.started, "a"), 3) << "the first try and two more";
  EXPECT_EQ(std::ranges::count(world.started, "b"), 1);
}

TEST(Supervisor, ALaunchOfSeveralJobsIsTakenApartUntilItsCulpritIsAlone) {
  const Script crash{.seconds = 1, .code = 139, .settles = false};
  std::vector<LaunchPlan> plan = launches(1);
  plan[0].rows = {0, 1, 2};
  plan[0].cells = {"0", "1", "2"};
  plan[0].jobs = {1, 2};
  plan.push_back({.id = "later", .rows = {3}, .cells = {"3"}, .after = {0}});
  const std::string alone = job_id({"0"}), pair = job_id({"1", "2"}), good = job_id({"1"}),
                    poison = job_id({"2"});
  World world(plan, slots(2));
  for (const std::string& id : {std::string("a"), pair, poison}) world.plays(id, {crash});
  RetryOptions retries;
  retries.breaker_failures = 1;  // all of these are failures of one launch
  EXPECT_EQ(world.run(retries), ExitCode::Partial) << world.log;
  EXPECT_EQ(world.aside, std::vector<std::string>{poison});
  const auto times = [&](const std::string& id) { return std::ranges::count(world.started, id); };
  EXPECT_EQ(times("a"), 3) << "the first try and two more";
  EXPECT_EQ(times(pair), 1) << "its budget was used up before";
  EXPECT_EQ(times(poison), 1);
  EXPECT_EQ(times(alone), 1);
  EXPECT_EQ(times(good), 1);
  EXPECT_EQ(world.started.back(), "later") << "it waits for every part";
}

TEST(Supervisor, WhatDoesNotFitInMemoryIsHalvedAtOnceAndACellAloneIsTriedAgain) {
  const Script oom{.seconds = 1, .code = 77, .settles = false};
  std::vector<LaunchPlan> plan = launches(1);
  plan[0].rows = {0, 1, 2};
  plan[0].cells = {"0", "1", "2"};
  plan[0].jobs = {3};
  const std::string alone = job_id({"0"}), pair = job_id({"1", "2"}), large = job_id({"2"});
  World world(plan, slots(1));
  for (const std::string& id : {std::string("a"), pair, large}) world.plays(id, {oom});
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{1}; };
  EXPECT_EQ(world.run(retries), ExitCode::Partial) << world.log;
  EXPECT_EQ(world.aside, std::vector<std::string>{large});
  const auto times = [&](const std::string& id) { return std::ranges::count(world.started, id); };
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
  World world(plan, slots(2));
  for (const LaunchPlan& launch : plan) {
    world.plays(launch.id, {{.seconds = 1, .code = 77, .settles = false}});
  }
  RetryOptions retries;
  retries.breaker_failures = 1;
  retries.stop_after_consecutive = 1;
  EXPECT_EQ(world.run(retries), ExitCode::Done) << world.log;
}

TEST(Supervisor, AFaultOfTheNodeIsTriedAgain) {
  World world(launches(1), slots(1));
  world.plays("a", {{.seconds = 1, .code = 71, .settles = false}, {.seconds = 1, .code = 0}});
  RetryOptions retries;
  retries.budget = [](std::string_view leaf) {
    return std::int64_t{leaf == "retry.infrastructure" ? 1 : 0};
  };
  EXPECT_EQ(world.run(retries), ExitCode::Done) << world.log;
}

TEST(Supervisor, ProgressFillsTheBudgetAgain) {
  World world(launches(1), slots(1));
  std::deque<Script> scripts;
  for (std::int64_t i = 1; i <= 8; ++i) {
    scripts.push_back({.seconds = 1, .code = 139, .settles = false, .checkpoint = i});
  }
  scripts.push_back({});
  world.plays("a", scripts);
  RetryOptions retries;
  retries.breaker_failures = 100;
  EXPECT_EQ(world.run(retries), ExitCode::Done);
}

TEST(Supervisor, ACardThatFailsTwiceGetsNoMoreLaunches) {
  SupervisorOptions options;
  options.slots = 2;
  options.gpus = {"0", "1"};
  World world(launches(6), options);
  world.fails_on = "1";
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{9}; };
  retries.backoff = 0.1;
  EXPECT_EQ(world.run(retries), ExitCode::Done) << world.log;
  EXPECT_EQ(std::ranges::count(world.gpus, std::vector<std::string>{"1"}), 2);
  EXPECT_NE(world.log.find("card 1 of"), std::string::npos) << world.log;
}

TEST(Supervisor, WithoutACardLeftItStopsAndLeavesTheCellsPending) {
  SupervisorOptions options;
  options.slots = 1;
  options.gpus = {"0"};
  World world(launches(2), options);
  world.fails_on = "0";
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{9}; };
  retries.backoff = 0.1;
  EXPECT_EQ(world.run(retries), ExitCode::TempFail) << world.log;
  EXPECT_TRUE(world.aside.empty());
}

TEST(Supervisor, ATeamThatIsTooLargeForTheCardsLeftStopsItWithCellsPending) {
  SupervisorOptions options;
  options.slots = 2;
  options.gpus = {"0", "1"};
  std::vector<LaunchPlan> all = launches(7);
  all[5].ranks = 2;
  all[5].after = {0};
  all[6].after = {5};
  World world(all, options);
  world.plays("a", {{.seconds = 20}});
  world.fails_on = "1";
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{9}; };
  retries.backoff = 0.1;
  EXPECT_EQ(world.run(retries), ExitCode::TempFail) << world.log;
  EXPECT_NE(world.log.find("a launch of 2 ranks is left, and only 1 cards"), std::string::npos)
      << world.log;
  EXPECT_TRUE(world.aside.empty());
  EXPECT_EQ(world.count_settled(), 5U) << "what fits the other card has been trained";
}

TEST(Supervisor, ACellThatFitsNowhereIsSetAsideWithItsPeak) {
  World world(launches(1), slots(1));
  world.plays("a", {{.seconds = 1,
                     .code = 77,
                     .settles = false,
                     .says = "error: out of memory; peak of this rank 120 MB; no 8 bytes\n"
                             "frame #0: of out of memory\n"}});
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{1}; };
  EXPECT_EQ(world.run(retries), ExitCode::Partial) << world.log;
  EXPECT_NE(world.log.find("are allowed): out of memory; peak of this rank 120 MB; no 8 bytes\n"),
            std::string::npos)
      << world.log;
}

TEST(Supervisor, APauseOfItsOwnIsNoSilenceOfItsLaunches) {
  SupervisorOptions options = slots(1);
  options.hang = 1;  // 19 s of a start
  World world(launches(1), options);
  world.plays("a", {{.seconds = 30}});
  world.pause_at = 2;  // for 25 s
  EXPECT_EQ(world.run(), ExitCode::Done) << world.log;
  EXPECT_EQ(world.started.size(), 1U);
}

TEST(Supervisor, ABrokenMachineStopsItself) {
  World world(launches(20), slots(2));
  for (char id = 'a'; id < 'a' + 20; ++id) {
    world.plays(std::string(1, id), {{.seconds = 1, .code = 139, .settles = false}});
  }
  RetryOptions retries;
  retries.breaker_failures = 5;
  EXPECT_EQ(world.run(retries), ExitCode::Failed);
  EXPECT_NE(world.log.find("retry.breaker_failures = 5"), std::string::npos) << world.log;
  EXPECT_LE(world.started.size(), 8U);
}

TEST(Supervisor, LaunchesInARowThatFailForGoodStopIt) {
  World world(launches(6), slots(1));
  for (const char* id : {"a", "b", "d", "e", "f"}) world.plays(id, {{.seconds = 1, .code = 4}});
  RetryOptions retries;
  retries.stop_after_consecutive = 2;
  EXPECT_EQ(world.run(retries), ExitCode::Failed) << world.log;
  EXPECT_EQ(world.started, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(world.log.find("retry.stop_after_consecutive = 2"), std::string::npos) << world.log;
  retries.stop_after_consecutive = 3;
  World interrupted(launches(6), slots(1));
  for (const char* id : {"a", "b", "d", "e"}) interrupted.plays(id, {{.seconds = 1, .code = 4}});
  EXPECT_EQ(interrupted.run(retries), ExitCode::Partial) << "c, between them, has a result";
  EXPECT_EQ(interrupted.started.size(), 6U);
}

TEST(Supervisor, AnErrorIsTriedAsOftenAsItsOwnBudgetSays) {
  World world(launches(2), slots(1));
  world.plays("a", {{.seconds = 1, .code = 1, .settles = false}});
  RetryOptions retries;
  retries.budget = [](std::string_view leaf) {
    return std::int64_t{leaf == "retry.error" ? 0 : 5};
  };
  EXPECT_EQ(world.run(retries), ExitCode::Partial) << world.log;
  EXPECT_EQ(std::ranges::count(world.started, "a"), 1);
  EXPECT_EQ(world.aside, std::vector<std::string>{"a"});
}

TEST(Supervisor, OneLaunchThatFailsOftenIsNoBrokenMachine) {
  World world(launches(2), slots(1));
  world.plays("a", {{.seconds = 1, .code = 139, .settles = false}});
  RetryOptions retries;
  retries.budget = [](std::string_view) { return std::int64_t{4}; };
  retries.backoff = 0;
  retries.breaker_failures = 2;
  EXPECT_EQ(world.run(retries), ExitCode::Partial);
  EXPECT_EQ(std::ranges::count(world.started, "a"), 5);
}

TEST(Supervisor, AFullDiskOrAWrongConfigurationEndsTheRun) {
  for (const int code : {73, 78, 2, 65}) {
    World world(launches(3), slots(1));
    world.plays("a", {{.seconds = 1, .code = code, .settles = false}});
    EXPECT_EQ(static_cast<int>(world.run()), code);
    EXPECT_EQ(world.started.size(), 1U);
  }
}

TEST(Supervisor, WhenARecordCannotBeKeptTheOtherLaunchesStopWithTheirCheckpoints) {
  World world(launches(4), slots(3));
  world.plays("a", {{.seconds = 1, .loses_folder = true}});
  world.plays("b", {{.seconds = 100}});
  world.plays("c", {{.seconds = 100}});
  EXPECT_EQ(world.run(), ExitCode::CantCreate);
  EXPECT_EQ(world.started.size(), 3U);
  EXPECT_EQ(world.asked, (std::vector<std::string>{"b", "c"}));
  EXPECT_TRUE(world.killed.empty());
  EXPECT_NE(world.log.find("launches/a"), std::string::npos) << world.log;
  EXPECT_EQ(launch_records(world.folder()).size(), 2U) << "of b and c, which were stopped";
}

TEST(Supervisor, WhenALaunchCannotBeWrittenTheOthersStopWithTheirCheckpoints) {
  World world(launches(3), slots(2));
  world.plays("a", {{.seconds = 100}});
  world.no_log_of = "b";
  EXPECT_EQ(world.run(), ExitCode::CantCreate);
  EXPECT_EQ(world.started, std::vector<std::string>{"a"});
  EXPECT_EQ(world.asked, std::vector<std::string>{"a"});
  EXPECT_TRUE(world.killed.empty());
}

TEST(Supervisor, ASignalStopsAllLaunches) {
  World world(launches(3), slots(2));
  world.plays("a", {{.seconds = 100}});
  world.plays("b", {{.seconds = 100}});
  world.stop_at = 5;
  EXPECT_EQ(world.run(), ExitCode::TempFail);
  EXPECT_LT(world.now(), 7);
  EXPECT_EQ(world.started.size(), 2U);
}

TEST(Supervisor, WhatGivesSignsOfLifeMayTakeLong) {
  SupervisorOptions options = slots(1);
  options.hang = 1;
  World world(launches(1), options);
  world.plays("a", {{.seconds = 500, .lives = true}});
  EXPECT_EQ(world.run(), ExitCode::Done) << world.log;
  EXPECT_EQ(world.started.size(), 1U);
}

TEST(Supervisor, WhoseNodeIsToBlameIsInItsRecord) {
  World world(launches(1), slots(1));
  world.plays("a", {{.seconds = 1, .code = 78, .settles = false, .cause = "device"}});
  EXPECT_EQ(world.run(), ExitCode::BadConfig);
  const auto records = launch_records(world.folder());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].cause, "device");
}

TEST(Supervisor, SilenceForTooLongIsAHang) {
  SupervisorOptions options = slots(1);
  options.hang = 10;  // in training; a start may take four times as long, who watches adds 15 s
  World world(launches(1), options);
  world.plays("a", {{.seconds = 1e5}, {.seconds = 1}});
  EXPECT_EQ(world.run(), ExitCode::Done);
  const auto records = launch_records(world.folder());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].end, LaunchEnd::Hang);
  EXPECT_NEAR(records[0].seconds, 55, 2);
  EXPECT_EQ(records[1].end, LaunchEnd::Done);
}

TEST(Supervisor, FailFastEndsWithTheFirstReportedFailure) {
  SupervisorOptions options = slots(1);
  options.fail_fast = true;
  World world(launches(3), options);
  world.plays("a", {{.seconds = 1, .code = 4}});
  EXPECT_EQ(world.run(), ExitCode::Partial);
  EXPECT_EQ(world.started.size(), 1U);
}

TEST(Supervisor, WaitsForCellsWhoseOwnerMayComeBack) {
  World world(launches(2), slots(1));
  world.haunted = "a";
  world.haunted_until = 20;
  EXPECT_EQ(world.run(), ExitCode::Done);
  EXPECT_EQ(world.started, (std::vector<std::string>{"b", "a"}));
  EXPECT_GT(world.now(), 21);
  EXPECT_FALSE(std::filesystem::exists(launch_folder(world.folder(), "a") / "gen-000002"))
      << "the launch is taken when its cells are";
}

TEST(Supervisor, LeavesAloneWhatAnotherOneHas) {
  World world(launches(2), slots(2));
  LeaseKeeper other({.ttl = std::chrono::hours(1)});
  const auto folder = launch_folder(world.folder(), "a");
  std::filesystem::create_directories(folder);
  auto held = other.try_acquire(folder);
  ASSERT_TRUE(held);
  world.stop_at = 200;
  EXPECT_EQ(world.run(), ExitCode::TempFail) << "a never comes free";
  EXPECT_EQ(world.started, std::vector<std::string>{"b"});
}

}  // namespace supervisor_test
}  // namespace depthgrid::testing
