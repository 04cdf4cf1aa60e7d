#include "sweeps/live/progress_channel.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/pretended_processes.hpp"

namespace depthgrid::progress_channel_test {
namespace {

namespace fs = std::filesystem;

LiveEvent event(LiveKind kind, int rank, std::int64_t step) {
  return {.kind = kind,
          .rank = rank,
          .job = "j",
          .rows = {4, 7},
          .text = "a … b",
          .first = 1,
          .step = step,
          .steps = 9,
          .low = 1.5,
          .high = 2.5,
          .seconds = 3,
          .idle = 0.5};
}

TEST(ProgressChannel, GivesEachRanksNewsOnceAndInOrder) {
  const TemporaryFolder folder;
  ProgressChannel first(folder.path() / "live" / "run");
  const ProgressChannel second(folder.path() / "live" / "run");
  second.append({event(LiveKind::JobStart, 1, 1), event(LiveKind::Note, 1, 1)});
  second.replace(event(LiveKind::Step, 1, 5));
  const auto news = first.read(2, 0);
  ASSERT_EQ(news.size(), 3U);
  EXPECT_EQ(news[0].kind, LiveKind::JobStart);
  EXPECT_EQ(news[2].step, 5);
  EXPECT_EQ(news[2].rows, (std::vector<std::size_t>{4, 7}));
  EXPECT_EQ(news[2].text, "a … b");
  EXPECT_DOUBLE_EQ(news[2].rate(), 8.0 / 3);
  EXPECT_DOUBLE_EQ(news[2].idle, 0.5);
  EXPECT_TRUE(first.read(2, 0).empty());
  second.append({event(LiveKind::JobEnd, 1, 9)});
  EXPECT_EQ(first.read(2, 0).size(), 1U);
}

TEST(ProgressChannel, WaitsForTheRestOfALineAndSkipsWhatItCannotRead) {
  const TemporaryFolder folder;
  ProgressChannel channel(folder.path() / "run");
  const std::string line = event_line(event(LiveKind::JobStart, 1, 0)) + "\n";
  std::ofstream(folder.path() / "run" / "rank-1.events") << "no json\n" << line.substr(0, 20);
  EXPECT_TRUE(channel.read(2, 0).empty());
  std::ofstream(folder.path() / "run" / "rank-1.events", std::ios::app) << line.substr(20);
  EXPECT_EQ(channel.read(2, 0).size(), 1U);
}

TEST(ProgressChannel, IsDeadOnceItsOwnerIs) {
  const TemporaryFolder folder;
  const PretendedProcesses processes([](const auto&) { return CommandAnswer{}; });
  const fs::path ours = folder.path() / "ours", others = folder.path() / "others";
  ProgressChannel(ours).sign(processes);
  ProgressChannel(others)
      .sign();  // by this machine's process, of which the pretended ones know nothing
  EXPECT_FALSE(channel_is_dead(ours, processes));
  EXPECT_TRUE(channel_is_dead(others, processes));
  EXPECT_FALSE(channel_is_dead(folder.path() / "unsigned", processes));
}

TEST(ProgressChannel, KeepsTheNewestSignOfLife) {
  const TemporaryFolder folder;
  const ProgressChannel channel(folder.path() / "live" / "a");
  EXPECT_EQ(channel.life().beats, 0);
  EXPECT_EQ(channel.life().phase, WorkPhase::StartUp);
  channel.sign_life({.phase = WorkPhase::Auditing, .beats = 7});
  EXPECT_EQ(channel.life().beats, 7);
  EXPECT_EQ(channel.life().phase, WorkPhase::Auditing);
}

TEST(ProgressChannel, PassesAStopOnAndLeavesThePlaceOfOthers) {
  const TemporaryFolder folder;
  const ProgressChannel first(folder.path() / "live" / "run"),
      second(folder.path() / "live" / "run");
  EXPECT_FALSE(first.stop_asked());
  second.ask_to_stop();
  EXPECT_TRUE(first.stop_asked());
  first.remove();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "live"));
  second.append({event(LiveKind::Note, 1, 0)});  // too late, and no error
}

TEST(LiveEvent, RecordsOfJsonProgressCountTheWholeSweep) {
  const auto step = parse_json(record_json(event(LiveKind::Step, 1, 5), 3, 10));
  EXPECT_EQ(step["event"], "step");
  EXPECT_EQ(step["rank"], 1);
  EXPECT_EQ(step["cells"], 2);
  EXPECT_EQ(step["cells_done"], 3);
  EXPECT_EQ(step["cells_total"], 10);
  EXPECT_DOUBLE_EQ(step["eta_seconds"], 3.0);
  EXPECT_EQ(record_json(event(LiveKind::Phase, 1, 5), 3, 10), "");
}

}  // namespace
}  // namespace depthgrid::progress_channel_test
