// What a supervisor may start at a time: beside what, on which cores, with how much disk and time.
#include <cerrno>
#include <utility>

#include <gtest/gtest.h>

#include "sweeps/run/supervisor.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/sweeps/run/pretended_backend.hpp"

namespace depthgrid::testing {
namespace supervisor_capacity_test {

using Backend = PretendedBackend;

TEST(SupervisorCapacity, WhileTheDiskIsFullOneLaunchIsTriedAfterTheOther) {
  SupervisorOptions options = slots(2);
  options.disk_wait = 600;  // a try every 20 s
  Backend backend(launches(4), options);
  backend.full_until = 100;
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_NE(backend.log.find("No space left on device"), std::string::npos);
  EXPECT_NE(backend.log.find("retry.disk_wait"), std::string::npos);
  EXPECT_LE(backend.started.size(), 2U + 5 + 4) << "two at first, then one every 20 s";
  EXPECT_TRUE(backend.given_up.empty()) << "no cell has failed";
}

TEST(SupervisorCapacity, WhatCannotBeWrittenForAnotherReasonIsNotWaitedFor) {
  SupervisorOptions options = slots(1);
  options.disk_wait = 600;
  Backend backend(launches(2), options);
  backend.no_log_of = "a";
  EXPECT_EQ(backend.run(), ExitCode::CantCreate);
  EXPECT_LT(backend.now(), 10);
  EXPECT_EQ(backend.log.find("disk is full"), std::string::npos) << backend.log;
}

TEST(SupervisorCapacity, ADiskThatStaysFullEndsTheRunAfterItsTime) {
  SupervisorOptions options = slots(1);
  options.disk_wait = 120;
  Backend backend(launches(3), options);
  backend.full_until = 1e6;
  EXPECT_EQ(backend.run(), ExitCode::CantCreate);
  EXPECT_GE(backend.now(), 120);
  EXPECT_LE(backend.now(), 135);
}

TEST(SupervisorCapacity, ALaunchThatGetsOnEndsThePauseEvenIfItsRecordHasNoRoomThen) {
  SupervisorOptions options = slots(1);
  options.disk_wait = 300;  // a try every 10 s
  const PretendedFs disk;
  Backend backend(launches(2), options, disk);
  backend.full_until = 290;
  backend.plays("a",
                {{.seconds = 12}});  // begins in the last seconds of the pause, ends after them
  int records = 0;
  disk.state().before = [&](const PretendedFs::Call& call) {
    const bool record = call.name == "rename" && call.path.extension() == ".json";
    if (!record || backend.now() < 300 || ++records > 1) return;
    disk.state().failing = disk.state().calls;
    disk.state().error = ENOSPC;
  };
  EXPECT_EQ(backend.run(), ExitCode::Done) << backend.log;
  EXPECT_GT(backend.now(), 310) << "a pause of its own, with all its time";
  EXPECT_EQ(records, 3) << "that of a, twice, and that of b";
  EXPECT_EQ(launch_records(backend.folder()).size(), backend.started.size());
}

TEST(SupervisorCapacity, TheLastRecordIsTriedOnceMoreBeforeItLeaves) {
  SupervisorOptions options = slots(1);
  options.disk_wait = 300;
  const PretendedFs disk;
  Backend backend(launches(1), options, disk);
  backend.plays("a", {{.seconds = 12}});
  bool first = true;
  disk.state().before = [&](const PretendedFs::Call& call) {
    if (call.name != "rename" || call.path.extension() != ".json" || !std::exchange(first, false)) {
      return;
    }
    disk.state().failing = disk.state().calls;
    disk.state().error = ENOSPC;
  };
  EXPECT_EQ(backend.run(), ExitCode::Done) << backend.log;
  EXPECT_EQ(launch_records(backend.folder()).size(), 1U);
}

TEST(SupervisorCapacity, ALaunchThatMustBeAloneWaitsForAllOthersAndTheyForIt) {
  std::vector<LaunchPlan> all = launches(4);
  all[1].ranks = 2;
  Backend backend(all, slots(4));
  backend.alone = [](std::int64_t ranks) { return ranks > 1; };
  backend.plays("a", {{.seconds = 5}});
  backend.plays("b", {{.seconds = 5}});
  EXPECT_EQ(backend.run(), ExitCode::Done);
  EXPECT_EQ(backend.started, (std::vector<std::string>{"a", "c", "d", "b"}));
  EXPECT_EQ(backend.most_at_once, 3U);
}

TEST(SupervisorCapacity, NothingStartsWhenTheAllocationEndsTooSoon) {
  Backend backend(launches(6), slots(2));
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) backend.plays(id, {{.seconds = 10}});
  backend.late_at = 15;
  EXPECT_EQ(backend.run(), ExitCode::TempFail);
  EXPECT_EQ(backend.started, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_TRUE(backend.asked.empty()) << "those that run come to their end";
  EXPECT_NE(backend.log.find("ends too soon"), std::string::npos);
}

TEST(SupervisorCapacity, EachLaunchHasCoresOfItsOwn) {
  SupervisorOptions options = slots(2);
  options.cores = {4, 5, 6, 7};
  options.cores_per_rank = 2;
  Backend backend(launches(3), options);
  EXPECT_EQ(backend.run(), ExitCode::Done);
  ASSERT_EQ(backend.cores.size(), 3U);
  EXPECT_EQ(backend.cores[0], (std::vector<int>{4, 5}));
  EXPECT_EQ(backend.cores[1], (std::vector<int>{6, 7}));
  EXPECT_EQ(backend.cores[2].size(), 2U) << "those that have come back";
}

}  // namespace supervisor_capacity_test
}  // namespace depthgrid::testing
