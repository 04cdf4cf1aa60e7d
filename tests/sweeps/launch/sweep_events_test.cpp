#include "sweeps/launch/sweep_events.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/machine.hpp"
#include "storage/store.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace sweep_events_test {

namespace fs = std::filesystem;
using enum SweepEventKind;

constexpr auto kLast = CellsRetried;

std::vector<SweepEventKind> all_kinds() {
  std::vector<SweepEventKind> out;
  for (int kind = 0; kind <= static_cast<int>(kLast); ++kind) {
    out.push_back(static_cast<SweepEventKind>(kind));
  }
  return out;
}

std::vector<std::string> launches_of(const fs::path& store) {
  std::vector<std::string> out;
  for (const SweepEvent& event : read_sweep_events(store).events) out.push_back(event.launch);
  return out;
}

class SweepEventsOf : public ::testing::Test {
 protected:
  fs::path folder() const { return scratch_.path() / "store"; }
  fs::path events() const { return folder() / "events"; }

  TemporaryFolder scratch_;
  double now_ = 1000;
  std::function<double()> clock_ = [this] { return now_; };
};

TEST_F(SweepEventsOf, EveryKindComesBackWithItsMembers) {
  std::set<std::string_view> words;
  for (const SweepEventKind kind : all_kinds()) {
    EXPECT_TRUE(words.insert(name_of(kind)).second) << name_of(kind);
    SweepEvent event{.kind = kind,
                     .launch = "l",
                     .attempt = 2,
                     .cells = {"a", "b"},
                     .cell_count = 3,
                     .end = "crash",
                     .code = 139,
                     .signal = 10,
                     .node = "n1",
                     .cause = "device",
                     .card = "0",
                     .seconds = 1.5,
                     .failures = 4,
                     .allowed = 5,
                     .budget = "retry.crash",
                     .launches = 6,
                     .slots = 7,
                     .parts = 8,
                     .tasks = 9,
                     .restart = 11,
                     .submission = "5b",
                     .jobs = {"12"},
                     .user = "ada",
                     .message = "why \xff"};
    event.time = 12.25;
    event.sequence = 13;
    event.host = "h";
    event.pid = 14;
    event.task = "3_4";
    const std::string line = event_line(event);
    EXPECT_EQ(line.find('\n'), line.npos);
    const auto json = parse_json(line);
    EXPECT_EQ(json["kind"], name_of(kind));
    EXPECT_EQ(json.size(), 6 + members_of(kind).size()) << line;
    for (const std::string_view name : members_of(kind)) {
      EXPECT_TRUE(json.contains(std::string(name))) << name;
    }
    const auto back = sweep_event_of(line);
    ASSERT_TRUE(back) << line;
    EXPECT_EQ(event_line(*back), line);
  }
}

TEST_F(SweepEventsOf, ThePageOfTheStoreHasARowForEachKindWithItsMembers) {
  std::ifstream page(std::string(DEPTHGRID_SOURCE_DIR) + "/docs/store-format.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  const auto quoted = [](std::string_view word) { return "`" + std::string(word) + "`"; };
  for (const SweepEventKind kind : all_kinds()) {
    const auto row = std::ranges::find_if(rows, [&](const std::string& line) {
      return line.substr(0, line.find('|', 1)).find(quoted(name_of(kind))) != line.npos;
    });
    ASSERT_NE(row, rows.end()) << name_of(kind);
    for (const std::string_view name : members_of(kind)) {
      EXPECT_NE(row->find(quoted(name)), row->npos) << name << " in " << *row;
    }
  }
}

TEST_F(SweepEventsOf, WhatIsNoEventIsPassedOver) {
  for (const char* line : {"", "{", "[]", "3", R"({"kind": "launch_began"})",
                           R"({"time": 1, "sequence": 1, "kind": "of a later release",)"
                           R"( "host": "", "pid": 1, "task": ""})"}) {
    EXPECT_FALSE(sweep_event_of(line)) << line;
  }
  // A member that a later release has added to a kind, or an earlier one did not have.
  EXPECT_TRUE(sweep_event_of(R"({"time": 1, "sequence": 1, "kind": "launch_began", "host": "",)"
                             R"( "pid": 1, "task": "", "launch": "l", "more": 1})"));
}

TEST_F(SweepEventsOf, WritersOfOneStoreHaveFilesOfTheirOwnAndReadersMergeThemByTime) {
  Store::open_or_create(folder());
  EventLog one(folder(), "7_1", clock_), two(folder(), "", clock_);
  EXPECT_FALSE(fs::exists(events())) << "nothing before the first event";
  one.add({.kind = LaunchBegan, .launch = "a"});
  now_ = 1001;
  two.add({.kind = LaunchBegan, .launch = "b"});
  now_ = 1002;
  one.add({.kind = LaunchBegan, .launch = "c"});
  now_ = 1003;
  two.add({.kind = LaunchBegan, .launch = "d"});
  two.add({.kind = LaunchBegan, .launch = "e"});
  EXPECT_EQ(std::distance(fs::directory_iterator(events()), {}), 2);
  EXPECT_EQ(launches_of(folder()), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  const std::vector<SweepEvent> read = read_sweep_events(folder()).events;
  EXPECT_EQ(read[0].task, "7_1");
  EXPECT_EQ(read[1].task, "");
  EXPECT_EQ(read[0].host, node_name());
  EXPECT_EQ(read[2].sequence, 2);
  EXPECT_EQ(read[0].writer, read[2].writer);
  EXPECT_NE(read[0].writer, read[1].writer);
}

TEST_F(SweepEventsOf, ATornLineIsIgnoredAndSoIsWhatNobodyKnows) {
  Store::open_or_create(folder());
  {
    EventLog log(folder(), "", clock_);
    log.add({.kind = LaunchBegan, .launch = "a"});
    log.add({.kind = LaunchBegan, .launch = "b"});
  }
  const fs::path file = fs::directory_iterator(events())->path();
  fs::resize_file(file, fs::file_size(file) - 5);
  EXPECT_EQ(launches_of(folder()), std::vector<std::string>{"a"});
  EXPECT_EQ(read_sweep_events(folder()).skipped, 0) << "its writer may be at it";
  std::ofstream(file, std::ios::app) << "\n\n{\"kind\": \"of a later release\"}\n";
  std::ofstream(events() / "notes.txt") << "no events\n";
  EXPECT_EQ(launches_of(folder()), std::vector<std::string>{"a"});
  EXPECT_EQ(read_sweep_events(folder()).skipped, 2);
}

TEST_F(SweepEventsOf, AClockThatGoesBackDoesNotChangeTheOrderOfAWriter) {
  Store::open_or_create(folder());
  EventLog log(folder(), "", clock_);
  log.add({.kind = LaunchBegan, .launch = "a"});
  now_ = 10;
  log.add({.kind = LaunchBegan, .launch = "b"});
  EXPECT_EQ(launches_of(folder()), (std::vector<std::string>{"a", "b"}));
}

TEST_F(SweepEventsOf, WhatHappensBeforeThereIsAStoreIsWrittenOnceThereIs) {
  {
    EventLog log(folder(), "", clock_);
    log.add({.kind = LaunchBegan, .launch = "prepare-1"});
    EXPECT_FALSE(fs::exists(folder())) << "it is not for the log to make a store";
    Store::open_or_create(folder());
  }
  EXPECT_EQ(launches_of(folder()), std::vector<std::string>{"prepare-1"});
}

TEST_F(SweepEventsOf, WhatCannotBeWrittenStopsNothingAndIsTriedAgain) {
  Store::open_or_create(folder());
  std::ofstream(events()) << "in the way";
  EventLog log(folder(), "", clock_);
  testing::internal::CaptureStderr();
  log.add({.kind = LaunchBegan, .launch = "a"});
  log.add({.kind = LaunchBegan, .launch = "b"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cannot be recorded now"), std::string::npos) << said;
  EXPECT_EQ(said.find("cannot be recorded"), said.rfind("cannot be recorded")) << "it is told once";
  fs::remove(events());
  log.add({.kind = LaunchBegan, .launch = "c"});
  EXPECT_EQ(launches_of(folder()), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(SweepEventsOf, AStoreOfAnEarlierReleaseHasNone) {
  Store::open_or_create(folder());
  EXPECT_TRUE(read_sweep_events(folder()).events.empty());
  EXPECT_TRUE(read_sweep_events(scratch_.path() / "absent").events.empty());
}

}  // namespace sweep_events_test
}  // namespace depthgrid
