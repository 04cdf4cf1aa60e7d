#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/launch/sweep_events.hpp"
#include "tests/sweeps/run/pretended_backend.hpp"

namespace depthgrid::testing {
namespace supervisor_events_test {

using Backend = PretendedBackend;

std::vector<std::string> words_of(const Backend& backend) {
  std::vector<std::string> out;
  for (const SweepEvent& event : backend.recorded) {
    out.push_back(std::string(name_of(event.kind)) + " " + event.launch);
  }
  return out;
}

const SweepEvent& first_of(const Backend& backend, SweepEventKind kind) {
  static const SweepEvent none;
  const auto at = std::ranges::find(backend.recorded, kind, &SweepEvent::kind);
  EXPECT_NE(at, backend.recorded.end()) << name_of(kind);
  return at == backend.recorded.end() ? none : *at;
}

RetryOptions budgets_of(std::int64_t each) {
  RetryOptions out;
  out.budget = [each](std::string_view) { return each; };
  out.backoff = 0.1;
  return out;
}

TEST(SupervisorEvents, ALaunchBeginsFailsIsTriedAgainAndIsGivenUp) {
  Backend backend(launches(1), slots(1));
  backend.plays("a", {{.seconds = 2, .code = 139, .finalises = false}});
  EXPECT_EQ(backend.run(budgets_of(1)), ExitCode::Partial);
  EXPECT_EQ(words_of(backend),
            (std::vector<std::string>{"launch_began a", "launch_ended a", "launch_again a",
                                      "launch_began a", "launch_ended a", "cells_given_up a"}));
  const SweepEvent& ended = backend.recorded[1];
  EXPECT_EQ(ended.attempt, 1);
  EXPECT_EQ(ended.cells, std::vector<std::string>{"0"});
  EXPECT_EQ(ended.end, "crash");
  EXPECT_EQ(ended.code, 139);
  EXPECT_NEAR(ended.seconds, 2, 0.2);
  EXPECT_EQ(backend.recorded[3].attempt, 2);
  const SweepEvent& again = first_of(backend, SweepEventKind::LaunchAgain);
  EXPECT_EQ(again.failures, 1);
  EXPECT_EQ(again.allowed, 1);
  EXPECT_EQ(again.budget, "retry.crash");
  EXPECT_NEAR(again.seconds, 0.1, 0.05);
  const SweepEvent& given_up = backend.recorded[5];
  EXPECT_EQ(given_up.failures, 2);
  EXPECT_EQ(given_up.budget, "retry.crash");
  EXPECT_EQ(given_up.cells, std::vector<std::string>{"0"});
  EXPECT_NE(backend.log.find(given_up.message), std::string::npos) << "as the report says";
}

TEST(SupervisorEvents, WhatDoesNotFitInMemoryIsSplit) {
  std::vector<LaunchPlan> plan = launches(1);
  plan[0].rows = {0, 1};
  plan[0].cells = {"0", "1"};
  plan[0].jobs = {2};
  Backend backend(plan, slots(1));
  backend.plays("a", {{.seconds = 1, .code = 77, .finalises = false}});
  EXPECT_EQ(backend.run(), ExitCode::Done) << backend.log;
  const SweepEvent& split = first_of(backend, SweepEventKind::LaunchSplit);
  EXPECT_EQ(split.end, "oom");
  EXPECT_EQ(split.parts, 2);
}

TEST(SupervisorEvents, AStopIsOneEventWithItsCode) {
  Backend backend(launches(3), slots(2));
  backend.plays("a", {{.seconds = 100}});
  backend.stop_at = 5;
  EXPECT_EQ(backend.run(), ExitCode::TempFail);
  EXPECT_EQ(first_of(backend, SweepEventKind::Stopping).code, 75);
  EXPECT_EQ(std::ranges::count(backend.recorded, SweepEventKind::Stopping, &SweepEvent::kind), 1);
  EXPECT_EQ(backend.recorded.back().kind, SweepEventKind::LaunchEnded);
  EXPECT_EQ(backend.recorded.back().end, "stopped");
}

TEST(SupervisorEvents, ACardThatFailsTwiceAndAFullDiskAreToldOnce) {
  SupervisorOptions options = slots(2);
  options.gpus = {"0", "1"};
  options.host = "n1";
  Backend cards(launches(6), options);
  cards.fails_on = "1";
  EXPECT_EQ(cards.run(budgets_of(9)), ExitCode::Done) << cards.log;
  EXPECT_EQ(first_of(cards, SweepEventKind::CardLeftOut).card, "1");
  EXPECT_EQ(first_of(cards, SweepEventKind::CardLeftOut).node, "n1");
  EXPECT_EQ(first_of(cards, SweepEventKind::CardLeftOut).failures, 2);

  options = slots(2);
  options.disk_wait = 600;
  Backend disk(launches(4), options);
  disk.full_until = 100;
  EXPECT_EQ(disk.run(), ExitCode::Done) << disk.log;
  EXPECT_NE(first_of(disk, SweepEventKind::DiskFull).message.find("No space left"),
            std::string::npos);
  EXPECT_EQ(std::ranges::count(disk.recorded, SweepEventKind::DiskFull, &SweepEvent::kind), 1);
}

}  // namespace supervisor_events_test
}  // namespace depthgrid::testing
