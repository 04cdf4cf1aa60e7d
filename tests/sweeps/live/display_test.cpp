#include "sweeps/live/display.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "tests/support/background_job.hpp"
#include "tests/support/pretended_clock.hpp"

namespace depthgrid {
namespace display_test {

LiveSweep cells(std::size_t count) {
  const LiveCell cell{.alias = "a", .structure = "s", .steps = 10, .predicted = {1, 0.1, 0.1}};
  return {"sweep", std::vector<LiveCell>(count, cell)};
}

LiveEvent job_start(std::size_t row = 0) {
  return {.kind = LiveKind::JobStart, .job = "j", .rows = {row}, .text = "a", .steps = 10};
}

/// All that an owner makes a display show.
int shown() {
  Display display({.style = display_style("auto")}, cells(1));
  display.receive(job_start());
  display.note("a note");
  display.update();
  log(LogLevel::Warning, "a warning");
  display.close();
  return 5;
}

bool has(const BackgroundEnd& end, const std::string& text) {
  return end.seen.find(text) != std::string::npos;
}

TEST(Display, IsNotStoppedByATerminalOnWhichOnlyOthersMayWrite) {
  const BackgroundEnd end = in_background(true, shown);
  EXPECT_FALSE(end.stopped);
  EXPECT_EQ(end.code, 5);
  EXPECT_FALSE(has(end, "a note") || has(end, "%")) << end.seen;
  EXPECT_TRUE(has(end, "a warning")) << end.seen;
}

TEST(Display, ShowsLinesInTheBackgroundOfATerminal) {
  const BackgroundEnd end = in_background(false, shown);
  EXPECT_EQ(end.code, 5);
  EXPECT_TRUE(has(end, "depthgrid: a note")) << end.seen;
  EXPECT_TRUE(has(end, "0 % (0 of 1 cells)")) << end.seen;
  EXPECT_FALSE(has(end, "[.")) << "no bar over what another program shows:\n" << end.seen;
}

TEST(Display, IntoAFileGoesALineAtTheEndAndEveryNote) {
  ::testing::internal::CaptureStderr();
  shown();
  const std::string seen = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(seen.starts_with("depthgrid: a note\n")) << seen;
  const std::size_t line = seen.find("\ndepthgrid: 0 % (0 of 1 cells), elapsed 0:00");
  EXPECT_GT(line, seen.find("a warning\n")) << seen;
  EXPECT_EQ(seen.find('\n', line + 1), seen.size() - 1) << seen;
}

TEST(Display, HasFourStyles) {
  EXPECT_EQ(display_style("json"), DisplayStyle::Json);
  EXPECT_EQ(display_style("quiet"), DisplayStyle::Quiet);
  EXPECT_EQ(display_style("plain"), DisplayStyle::Plain);
  EXPECT_THROW(display_style("loud"), Error);
}

/// What is written while time passes as a test says.
class TimedDisplay : public ::testing::Test {
 protected:
  /// What comes within so many seconds of updates, five a second.
  std::string text(Display& display, double seconds) {
    ::testing::internal::CaptureStderr();
    for (const double end = clock_.now() + seconds; clock_.now() < end; clock_.pass(0.2)) {
      display.update();
    }
    return ::testing::internal::GetCapturedStderr();
  }
  std::size_t lines(Display& display, double seconds) {
    const std::string seen = text(display, seconds);
    return static_cast<std::size_t>(std::ranges::count(seen, '\n'));
  }
  Display display(DisplayStyle style, std::size_t count = 1) {
    return Display({.style = style,
                    .names_ranks = true,
                    .has_result = [this](std::size_t row) { return results_.contains(row); }},
                   cells(count), clock_);
  }

  const PretendedClock clock_;
  std::set<std::size_t> results_;
};

TEST_F(TimedDisplay, LinesComeEveryTenSecondsAtFirstAndThenOnceAMinute) {
  Display plain = display(DisplayStyle::Plain);
  EXPECT_EQ(lines(plain, 60), 0U) << "nothing is at work";
  plain.receive(job_start());
  EXPECT_EQ(lines(plain, 60), 6U);
  clock_.pass(3600);
  lines(plain, 1);
  EXPECT_EQ(lines(plain, 570), 9U);
}

TEST_F(TimedDisplay, StepsAreRecordsOnceASecond) {
  Display json = display(DisplayStyle::Json);
  ::testing::internal::CaptureStderr();
  json.receive(job_start());
  for (std::int64_t step = 1; step <= 10; ++step) {
    clock_.pass(0.4);
    json.receive({.kind = LiveKind::Step, .job = "j", .rows = {0}, .step = step, .steps = 10});
  }
  const std::string seen = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(seen, '\n'), 5) << "start, steps 1, 4, 7 and the last:\n" << seen;
}

TEST_F(TimedDisplay, ARecordOfAJobsEndCountsItsCells) {
  Display json = display(DisplayStyle::Json, 2);
  ::testing::internal::CaptureStderr();
  json.receive(job_start(1));
  results_ = {1};
  json.receive({.kind = LiveKind::JobEnd, .job = "j", .rows = {1}, .text = "done"});
  const std::string seen = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(seen.ends_with("\"cells_done\":1,\"cells_total\":2}\n")) << seen;
}

TEST_F(TimedDisplay, CountsCellsThatOtherRunsHaveTrained) {
  constexpr std::size_t kMany = 1000;  // more than are asked for at once
  Display plain = display(DisplayStyle::Plain, kMany);
  plain.receive(job_start());
  for (std::size_t row = 1; row < kMany; ++row) results_.insert(row);
  const std::string seen = text(plain, 10.5);
  EXPECT_NE(seen.find("(999 of 1000 cells)"), std::string::npos) << seen;
  results_.insert(0);
  ::testing::internal::CaptureStderr();
  plain.close();
  const std::string end = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(end.starts_with("depthgrid: 100 % (1000 of 1000 cells)")) << end;
}

TEST_F(TimedDisplay, AStoreThatCannotBeReadEndsNothing) {
  Display plain({.style = DisplayStyle::Plain,
                 .has_result = [](std::size_t) -> bool { throw std::runtime_error("gone"); }},
                cells(1), clock_);
  plain.receive(job_start());
  EXPECT_EQ(lines(plain, 12), 1U);
}

TEST_F(TimedDisplay, NotesNameTheirRankAndQuietShowsThoseOfTheOwnerOnly) {
  const LiveEvent sent{.kind = LiveKind::Note, .rank = 3, .text = "split in two \x1b[31m"};
  const auto notes = [&](DisplayStyle style) {
    ::testing::internal::CaptureStderr();
    Display shows = display(style);
    shows.receive(sent);
    shows.note("again in 2 s");
    shows.close();
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(notes(DisplayStyle::Plain),
            "depthgrid: rank 3: split in two \\x1b[31m\ndepthgrid: again in 2 s\n");
  EXPECT_EQ(notes(DisplayStyle::Quiet), "depthgrid: again in 2 s\n");
  EXPECT_EQ(notes(DisplayStyle::Json),
            "{\"schema\":1,\"event\":\"note\",\"rank\":3,\"text\":\"split in two \\u001b[31m\"}\n"
            "{\"schema\":1,\"event\":\"note\",\"rank\":0,\"text\":\"again in 2 s\"}\n");
}

}  // namespace display_test
}  // namespace depthgrid
