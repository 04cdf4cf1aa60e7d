#include "sweeps/live/live_screen.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "core/base/log.hpp"
#include "tests/support/background_job.hpp"
#include "tests/support/pretended_clock.hpp"

namespace depthgrid {
namespace live_screen_test {

LiveSweep one_cell() {
  return {"sweep", {{.alias = "a", .structure = "s", .steps = 10, .predicted = {1, 0.1, 0.1}}}};
}

LiveEvent job_start() {
  return {.kind = LiveKind::JobStart, .job = "j", .rows = {0}, .text = "a", .steps = 10};
}

/// All that a supervisor makes a screen show.
int shown() {
  LiveScreen screen("auto", one_cell());
  screen.hear(job_start());
  screen.say("a note");
  screen.turn();
  log(LogLevel::Warning, "a warning");
  screen.close();
  return 5;
}

bool has(const BackgroundEnd& end, const std::string& text) {
  return end.seen.find(text) != std::string::npos;
}

TEST(LiveScreen, IsNotStoppedByATerminalOnWhichOnlyOthersMayWrite) {
  const BackgroundEnd end = in_background(true, shown);
  EXPECT_FALSE(end.stopped);
  EXPECT_EQ(end.code, 5);
  EXPECT_FALSE(has(end, "a note") || has(end, "%")) << end.seen;
  EXPECT_TRUE(has(end, "a warning")) << end.seen;
}

TEST(LiveScreen, ShowsLinesInTheBackgroundOfATerminal) {
  const BackgroundEnd end = in_background(false, shown);
  EXPECT_EQ(end.code, 5);
  EXPECT_TRUE(has(end, "depthgrid: a note")) << end.seen;
  EXPECT_TRUE(has(end, "0 % (0 of 1 cells)")) << end.seen;
  EXPECT_FALSE(has(end, "[.")) << "no bar over what another program shows:\n" << end.seen;
}

TEST(LiveScreen, IntoAFileGoesALineAtTheEndAndEveryNote) {
  ::testing::internal::CaptureStderr();
  shown();
  const std::string seen = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(seen.starts_with("depthgrid: a note\n")) << seen;
  const std::size_t line = seen.find("\ndepthgrid: 0 % (0 of 1 cells), elapsed 0:00");
  EXPECT_GT(line, seen.find("a warning\n")) << seen;
  EXPECT_EQ(seen.find('\n', line + 1), seen.size() - 1) << seen;
}

/// What is written while time passes as a test says.
class TimedScreen : public ::testing::Test {
 protected:
  /// The lines that come within so many seconds of looks, five a second.
  std::size_t lines(LiveScreen& screen, double seconds) {
    ::testing::internal::CaptureStderr();
    for (const double end = clock_.now() + seconds; clock_.now() < end; clock_.pass(0.2)) {
      screen.turn();
    }
    const std::string seen = ::testing::internal::GetCapturedStderr();
    return static_cast<std::size_t>(std::ranges::count(seen, '\n'));
  }

  const PretendedClock clock_;
};

TEST_F(TimedScreen, LinesComeEveryTenSecondsAtFirstAndThenOnceAMinute) {
  LiveScreen screen("plain", one_cell(), clock_);
  EXPECT_EQ(lines(screen, 60), 0U) << "nothing is at work";
  screen.hear(job_start());
  EXPECT_EQ(lines(screen, 60), 6U);
  clock_.pass(3600);
  lines(screen, 1);
  EXPECT_EQ(lines(screen, 570), 9U);
}

TEST_F(TimedScreen, StepsAreRecordsOnceASecond) {
  LiveScreen screen("json", one_cell(), clock_);
  ::testing::internal::CaptureStderr();
  screen.hear(job_start());
  for (std::int64_t step = 1; step <= 10; ++step) {
    clock_.pass(0.4);
    screen.hear({.kind = LiveKind::Step, .job = "j", .rows = {0}, .step = step, .steps = 10});
  }
  const std::string seen = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(seen, '\n'), 5) << "start, steps 1, 4, 7 and the last:\n" << seen;
}

}  // namespace live_screen_test
}  // namespace depthgrid
