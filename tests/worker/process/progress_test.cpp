#include "worker/process/progress.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/background_job.hpp"

namespace depthgrid::progress_test {
namespace {

using Json = nlohmann::json;

LiveSweep two_cells() {
  const LiveCell cell{.alias = "a", .structure = "s", .steps = 10, .predicted = {1, 0.1, 0.1}};
  return {"sweep", {cell, cell}};
}

void train(Progress& progress, const std::string& job, std::size_t row) {
  progress.job_started(job, {row}, 0, 10, "alias of " + job);
  for (std::int64_t step = 1; step <= 10; ++step) progress.step(step, 1.5, 2.5);
  progress.phase("final evaluation");
  progress.job_ended("done");
}

std::vector<Json> records(const std::string& text) {
  std::vector<Json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(parse_json(line));
  return out;
}

TEST(Progress, TheFirstRankWritesTheRecordsOfAll) {
  const TemporaryFolder folder;
  const auto options = [&](int rank) {
    return ProgressOptions{.style = DisplayStyle::Json,
                           .rank = rank,
                           .ranks = 2,
                           .channel = folder.path() / "live" / "run",
                           .has_result = [](std::size_t) { return true; }};
  };
  ::testing::internal::CaptureStderr();
  {
    Progress first(options(0), two_cells());
    Progress second(options(1), two_cells());
    train(second, "other", 1);
    second.notify("a note");
    second.close();
    train(first, "own", 0);
    first.close();
  }
  const std::vector<Json> all = records(::testing::internal::GetCapturedStderr());
  std::vector<std::string> of_other;
  std::int64_t done = 0;
  for (const Json& r : all) {
    if (r["rank"] == 1) of_other.push_back(r["event"]);
    if (!r.contains("cells_done")) continue;
    EXPECT_GE(r["cells_done"].get<std::int64_t>(), done);
    done = r["cells_done"];
  }
  EXPECT_EQ(of_other, (std::vector<std::string>{"job_start", "step", "job_end", "note"}));
  EXPECT_EQ(done, 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "live")) << "another run may begin there";
}

TEST(Progress, AStopOfOneRankReachesAll) {
  const TemporaryFolder folder;
  std::atomic<bool> asked = false, passed_on = false;
  const auto options = [&](int rank) {
    return ProgressOptions{.style = DisplayStyle::Quiet,
                           .rank = rank,
                           .ranks = 2,
                           .channel = folder.path() / "live" / "run",
                           .stop_requested = [&, rank] { return rank == 1 && asked.load(); },
                           .request_stop = [&, rank] { passed_on = rank == 0; }};
  };
  Progress first(options(0), two_cells());
  Progress second(options(1), two_cells());
  EXPECT_FALSE(passed_on);
  asked = true;
  for (int i = 0; i < 500 && !passed_on; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(passed_on);
  second.close();
  first.close();
}

TEST(Progress, IntoAFileGoesOneLineAtTheEndAndEveryNote) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress(
        {.style = DisplayStyle::Plain, .has_result = [](std::size_t) { return true; }},
        two_cells());
    train(progress, "j", 0);
    progress.notify("split in two \x1b[31m");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "depthgrid: split in two \\x1b[31m\n"
            "depthgrid: 100 % (2 of 2 cells), elapsed 0:00, remaining 0:00\n");
}

// Else the remaining time would expect an audit before every job.
TEST(Progress, WhatPrecedesTheWorkIsNotTheWaitOfTheFirstJob) {
  const TemporaryFolder folder;
  const std::filesystem::path channel = folder.path() / "run";
  {
    Progress progress({.rank = 1, .ranks = 2, .channel = channel}, two_cells());
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    progress.plan({{0}, {1}}, 1);
    progress.job_started("j", {0}, 0, 10, "a");
  }
  const std::vector<LiveEvent> sent = ProgressChannel(channel).read(2, 0);
  ASSERT_FALSE(sent.empty());
  EXPECT_LT(sent.front().idle, 0.4);
}

// What the run's main thread writes meanwhile, such as a warning, must not stop it either.
TEST(Progress, IsNotStoppedByATerminalOnWhichOnlyOthersMayWrite) {
  const BackgroundEnd end = in_background(true, [] {
    Progress progress({.style = display_style("auto")}, two_cells());
    train(progress, "j", 0);
    log(LogLevel::Warning, "a warning");
    return 5;
  });
  EXPECT_FALSE(end.stopped);
  EXPECT_EQ(end.code, 5);
  EXPECT_NE(end.seen.find("a warning"), std::string::npos) << end.seen;
}

TEST(Progress, QuietSaysNothing) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress({}, two_cells());
    train(progress, "j", 0);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace depthgrid::progress_test
