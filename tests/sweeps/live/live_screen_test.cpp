#include "sweeps/live/live_screen.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/base/log.hpp"
#include "tests/support/background_job.hpp"

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

}  // namespace live_screen_test
}  // namespace depthgrid
