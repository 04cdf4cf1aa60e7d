#include "sweeps/run/event_report.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "tests/sweeps/run/pretended_store.hpp"

namespace depthgrid::testing {
namespace event_report_test {

class EventReportOf : public PretendedStore {
 protected:
  EventReport report() const { return known_events(store_, listing()); }
  /// "launch_began launch_record", …
  std::vector<std::string> words() const {
    std::vector<std::string> out;
    const auto json = parse_json(events_json(report(), "st"));
    for (const auto& e : json["events"]) {
      out.push_back(e["kind"].get<std::string>() + " " + e["known_from"].get<std::string>());
    }
    return out;
  }
  std::string text() const { return events_text(report(), listing(), Colour::No); }
};

using Words = std::vector<std::string>;

TEST_F(EventReportOf, AStoreOfAnEarlierReleaseTellsWhatItsRecordsSay) {
  EXPECT_NE(text().find("in st, and no launches"), std::string::npos) << text();
  submitted();
  launched("0123456789ab", LaunchEnd::Crash);
  fail(1, R"({"class": "crash", "message": "it crashed", "job": "j", "host": "n2"})");
  Words sorted = words();
  std::ranges::sort(sorted);  // all were written within a moment, but for the begin
  EXPECT_EQ(sorted, (Words{"cells_given_up failure_report", "launch_began launch_record",
                           "launch_ended launch_record", "submitted submission"}));
  const auto json = parse_json(events_json(report(), "st"));
  EXPECT_EQ(json["recorded"], false);
  EXPECT_EQ(json["events"][0]["kind"], "launch_began") << "five seconds before its end";
  EXPECT_EQ(json["events"][0]["task"], "7_1");
  const std::string said = text();
  EXPECT_TRUE(said.starts_with("no events are recorded in st")) << said;
  for (const char* part : {"launch 0123456789ab ended as crash (signal 11", "on n1", "7_1",
                           "lr=0.002,s0 given up: it crashed", "2 cells in 1 task submitted",
                           "failure report", "launch record"}) {
    EXPECT_NE(said.find(part), said.npos) << part << " in\n" << said;
  }
}

TEST_F(EventReportOf, WhatIsRecordedIsNotToldTwice) {
  submitted();
  launched("0123456789ab", LaunchEnd::Crash);
  launched("0123456789ab", LaunchEnd::Done, 2);
  fail(1, R"({"class": "crash", "message": "it crashed", "job": "j", "host": "n2"})");
  {
    EventLog log(store_.root());
    log.add(submitted_event(*submission_of(store_.root(), "5b")));
    log.add({.kind = SweepEventKind::LaunchBegan, .launch = "0123456789ab", .attempt = 1});
    log.add({.kind = SweepEventKind::LaunchEnded, .launch = "0123456789ab", .attempt = 1});
    log.add({.kind = SweepEventKind::CellsGivenUp, .cells = {id(1)}});
  }
  Words sorted = words();
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted,
            (Words{"cells_given_up event", "launch_began event", "launch_began launch_record",
                   "launch_ended event", "launch_ended launch_record", "submitted event"}))
      << "the second attempt was by a release that records no events";
  EXPECT_EQ(text().find("no events are recorded"), std::string::npos);
}

TEST_F(EventReportOf, ACancelledCellIsToldOnceAndARetriedOneNotAsFailed) {
  cancel_cell(store_, id(0), leases_);
  EXPECT_EQ(words(), Words{"cells_cancelled failure_report"});
  fail(1, R"({"class": "oom", "message": "too large"})");
  EXPECT_EQ(words().size(), 2U);
  retry_cell(store_, id(1), leases_);
  EXPECT_EQ(words(), Words{"cells_cancelled failure_report"}) << "it is pending";
}

TEST_F(EventReportOf, ANodeThatIsLeftOutIsToldOnceAndNotAfterItsReturn) {
  record_node_fault(store_.root(), {.node = "n1", .cause = "device", .why = "no driver"});
  EXPECT_EQ(words(), Words{"node_left_out node_fault"});
  EXPECT_NE(text().find("node n1 is left out: device: no driver"), std::string::npos) << text();
  EventLog log(store_.root());
  log.add({.kind = SweepEventKind::NodeLeftOut, .node = "n1"});
  EXPECT_EQ(words(), Words{"node_left_out event"});
  readmit_node(store_.root(), "n1");
  log.add({.kind = SweepEventKind::NodeReadmitted, .node = "n1"});
  EXPECT_EQ(words(), (Words{"node_left_out event", "node_readmitted event"}));
}

TEST_F(EventReportOf, EveryKindHasASentenceWithItsNumbers) {
  const Listing cells = listing();
  SweepEvent event{.kind = SweepEventKind::Stopping,
                   .launch = "abc",
                   .attempt = 2,
                   .cells = {id(0)},
                   .cell_count = 3,
                   .end = "crash",
                   .code = 134,
                   .signal = 10,
                   .node = "n1",
                   .cause = "device",
                   .card = "0",
                   .seconds = 12,
                   .failures = 1,
                   .allowed = 3,
                   .budget = "retry.crash",
                   .launches = 6,
                   .slots = 7,
                   .parts = 8,
                   .tasks = 1,
                   .restart = 2,
                   .submission = "5b",
                   .jobs = {"12"},
                   .user = "ada",
                   .message = "why\nmore"};
  using enum SweepEventKind;
  const std::pair<SweepEventKind, const char*> expected[] = {
      {Submitted, "3 cells in 1 task submitted by ada, as array 12"},
      {SupervisorBegan,
       "a supervisor began: 3 cells in 6 launches, 7 at a time; its task was put back 2 times"},
      {LaunchBegan, "launch abc began, try 2: lr=0.001,s0"},
      {LaunchEnded,
       "launch abc ended as crash (signal 6, Aborted) after 12.0 s on n1, which is to blame: "
       "device"},
      {LaunchAgain, "launch abc starts again in 12.0 s: crash, retry 1 of 3 (retry.crash)"},
      {LaunchSplit, "launch abc ended as crash: 8 launches in its place"},
      {CellsGivenUp, "lr=0.001,s0 given up: why"},
      {CardLeftOut, "GPU 0 on n1 disabled: 1 launch on it ended by its fault"},
      {NodeLeftOut, "node n1 is left out: why"},
      {NodeReadmitted, "node n1 is used again by ada"},
      {DiskFull, "the store's disk is full: launches wait: why"},
      {TaskRequeued, "the task goes back into the queue, why"},
      {TaskNotRequeued, "the task does not go back into the queue: why"},
      {CellsCancelled, "lr=0.001,s0 cancelled by ada"},
      {CellsRetried, "lr=0.001,s0 made pending again by ada"}};
  for (const auto& [kind, sentence] : expected) {
    event.kind = kind;
    EXPECT_EQ(event_text(event, cells), sentence);
  }
  event.kind = Stopping;
  EXPECT_TRUE(event_text(event, cells).starts_with("stopping by signal 10 (")) << "its name";
  event.kind = SupervisorEnded;
  EXPECT_TRUE(event_text(event, cells).starts_with("the supervisor ended with 134, stopped by"));
  event.kind = LaunchBegan;
  event.launch = "prepare-7_1";
  event.cells.clear();
  event.attempt = 1;
  EXPECT_EQ(event_text(event, cells), "the preparation began");
  event.launch = "run-0f";
  EXPECT_EQ(event_text(event, cells), "the worker of a plain run began");
}

TEST_F(EventReportOf, LinesThatAreNoEventsAreCounted) {
  EventLog(store_.root()).add({.kind = SweepEventKind::DiskFull});
  const auto file = std::filesystem::directory_iterator(store_.root() / "events")->path();
  std::ofstream(file, std::ios::app) << "{\"kind\": \"later\"}\n";
  EXPECT_NE(text().find("1 line in events/ is not understood"), std::string::npos) << text();
}

}  // namespace event_report_test
}  // namespace depthgrid::testing
