#include "sweeps/supervise/supervisor.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace supervisor_test {

/// What a pretended launch does: so long, and then ends with this code.
struct Script {
  double seconds = 1;
  int code = 0;
  bool settles = true;  // its cells have results afterwards
  std::int64_t checkpoint = 0;
  bool loses_folder = false;  // its folder in the store cannot be written when it ends
};

/// A world with a clock of its own.
class World {
 public:
  explicit World(std::vector<LaunchPlan> launches, SupervisorOptions options = {})
      : launches_(std::move(launches)), options_(std::move(options)) {}

  void plays(const std::string& id, std::deque<Script> scripts) { scripts_[id] = scripts; }

  ExitCode run(RetryOptions retries = {}) {
    if (!retries.budget) retries.budget = [](std::string_view) { return std::int64_t{2}; };
    SupervisorWorld world;
    world.start = [this](const LaunchTicket& ticket) { return start(ticket); };
    world.settled = [this](std::size_t row) { return settled_.contains(row); };
    world.done = [this](std::size_t row) {
      return settled_.contains(row) && !failed_.contains(row);
    };
    world.checkpoint = [this](std::size_t row) { return checkpoints_[row]; };
    world.stop_asked = [this] { return now_ >= stop_at; };
    world.say = [this](const std::string& line) { said += line + '\n'; };
    world.now = [this] { return now_; };
    world.wait = [this](double seconds) {
      now_ += seconds;
      if (now_ > pause_at) now_ += 25, pause_at = 1e9;
      ASSERT_LT(now_, 1e6) << "it never ends; said so far:\n" << said;
    };
    world.inherit = [this](const LaunchPlan& plan) {
      return plan.id != haunted || now_ > haunted_until;
    };
    world.set_aside = [this](const LaunchPlan& plan, const LaunchRecord&, const std::string& why) {
      aside.push_back(plan.id);
      said += why + '\n';
    };
    Supervisor supervisor(launches_, folder_.path(), leases_, options_, retries, world);
    return supervisor.run();
  }

  std::vector<std::string> started, aside, asked, killed;
  std::string haunted;  // an owner of this launch's cells is silent …
  double haunted_until = 0;
  std::string no_log_of;  // this launch's log cannot be opened
  std::vector<std::vector<std::string>> gpus;
  std::string said;
  std::size_t most_at_once = 0;
  double stop_at = 1e9, pause_at = 1e9;
  std::string fails_on;  // a card
  double now() const { return now_; }
  LeaseKeeper& leases() { return leases_; }
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  class Pretended final : public RunningLaunch {
   public:
    Pretended(World& world, const LaunchPlan& plan, Script script)
        : world_(world), plan_(plan), script_(script), end_(world.now_ + script.seconds) {
      world_.most_at_once = std::max(world_.most_at_once, ++world_.running_);
    }
    ~Pretended() override { --world_.running_; }
    std::optional<int> poll() override {
      if (killed_) return 137;
      if (asked_) return 75;
      if (world_.now_ < end_) return std::nullopt;
      for (const std::size_t row : plan_.rows) {
        if (script_.settles) world_.settled_.insert(row);
        if (script_.code == 4) world_.failed_.insert(row);
        world_.checkpoints_[row] = std::max(world_.checkpoints_[row], script_.checkpoint);
      }
      if (script_.loses_folder) {
        std::filesystem::remove_all(launch_folder(world_.folder(), plan_.id));
      }
      return script_.code;
    }
    void ask_to_stop() override {
      asked_ = true;
      world_.asked.push_back(plan_.id);
    }
    void kill() override {
      killed_ = true;
      world_.killed.push_back(plan_.id);
    }
    std::vector<LiveEvent> news() override { return {}; }

   private:
    World& world_;
    const LaunchPlan& plan_;
    Script script_;
    double end_;
    bool asked_ = false, killed_ = false;
  };

  std::unique_ptr<RunningLaunch> start(const LaunchTicket& ticket) {
    if (ticket.plan.id == no_log_of) throw StorageError("log", "cannot be opened");
    started.push_back(ticket.plan.id);
    gpus.push_back(ticket.gpus);
    Script script;
    auto& own = scripts_[ticket.plan.id];
    if (!own.empty()) {
      script = own.front();
      if (own.size() > 1) own.pop_front();
    }
    if (!fails_on.empty() && ticket.gpus == std::vector{fails_on}) {
      script = {.seconds = 1, .code = 1, .settles = false};
      std::ofstream(ticket.folder / ("attempt-" + std::to_string(ticket.attempt) + ".log"))
          << "NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus\n";
    }
    return std::make_unique<Pretended>(*this, ticket.plan, script);
  }

  TemporaryFolder folder_;
  LeaseKeeper leases_;
  std::vector<LaunchPlan> launches_;
  SupervisorOptions options_;
  std::map<std::string, std::deque<Script>> scripts_;
  std::set<std::size_t> settled_, failed_;
  std::map<std::size_t, std::int64_t> checkpoints_;
  std::size_t running_ = 0;
  double now_ = 0;
};

std::vector<LaunchPlan> launches(std::size_t n, std::int64_t ranks = 1) {
  std::vector<LaunchPlan> out;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back({.id = std::string(1, static_cast<char>('a' + i)),
                   .rows = {i},
                   .cells = {std::to_string(i)},
                   .ranks = ranks,
                   .seconds = 1,
                   .bytes = 1});
  }
  return out;
}

SupervisorOptions slots(std::int64_t n) {
  SupervisorOptions out;
  out.slots = n;
  return out;
}

TEST(Supervisor, StartsEachLaunchOnceAndNoMoreAtATimeThanThereAreSlots) {
  World world(launches(5), slots(2));
  EXPECT_EQ(world.run(), ExitCode::Done);
  EXPECT_EQ(world.started, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(world.most_at_once, 2U);
  EXPECT_NEAR(world.now(), 3, 0.5) << "five launches of a second by two at a time";
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
  EXPECT_EQ(world.run(retries), ExitCode::Partial) << world.said;
  EXPECT_EQ(world.aside, std::vector<std::string>{poison});
  const auto times = [&](const std::string& id) { return std::ranges::count(world.started, id); };
  EXPECT_EQ(times("a"), 3) << "the first try and two more";
  EXPECT_EQ(times(pair), 1) << "its budget was used up before";
  EXPECT_EQ(times(poison), 1);
  EXPECT_EQ(times(alone), 1);
  EXPECT_EQ(times(good), 1);
  EXPECT_EQ(world.started.back(), "later") << "it waits for every part";
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
  EXPECT_EQ(world.run(retries), ExitCode::Done) << world.said;
  EXPECT_EQ(std::ranges::count(world.gpus, std::vector<std::string>{"1"}), 2);
  EXPECT_NE(world.said.find("card 1 of"), std::string::npos) << world.said;
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
  EXPECT_EQ(world.run(retries), ExitCode::TempFail) << world.said;
  EXPECT_TRUE(world.aside.empty());
}

TEST(Supervisor, APauseOfItsOwnIsNoSilenceOfItsLaunches) {
  SupervisorOptions options = slots(1);
  options.silence = 10;
  World world(launches(1), options);
  world.plays("a", {{.seconds = 30}});
  world.pause_at = 2;  // for 25 s
  EXPECT_EQ(world.run(), ExitCode::Done) << world.said;
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
  EXPECT_NE(world.said.find("retry.breaker_failures = 5"), std::string::npos) << world.said;
  EXPECT_LE(world.started.size(), 8U);
}

TEST(Supervisor, LaunchesInARowThatFailForGoodStopIt) {
  World world(launches(6), slots(1));
  for (const char* id : {"a", "b", "d", "e", "f"}) world.plays(id, {{.seconds = 1, .code = 4}});
  RetryOptions retries;
  retries.stop_after_consecutive = 2;
  EXPECT_EQ(world.run(retries), ExitCode::Failed) << world.said;
  EXPECT_EQ(world.started, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(world.said.find("retry.stop_after_consecutive = 2"), std::string::npos) << world.said;
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
  EXPECT_EQ(world.run(retries), ExitCode::Partial) << world.said;
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
  EXPECT_NE(world.said.find("launches/a"), std::string::npos) << world.said;
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

TEST(Supervisor, SilenceForTooLongIsAHang) {
  SupervisorOptions options = slots(1);
  options.silence = 50;
  World world(launches(1), options);
  world.plays("a", {{.seconds = 1e5}, {.seconds = 1}});
  EXPECT_EQ(world.run(), ExitCode::Done);
  const auto records = launch_records(world.folder());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].end, LaunchEnd::Hang);
  EXPECT_NEAR(records[0].seconds, 50, 2);
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
}  // namespace depthgrid
