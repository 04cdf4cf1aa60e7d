#include "core/base/terminal.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/support/background_job.hpp"

namespace depthgrid::terminal_test {
namespace {

/// Both ends of a terminal without a window.
class PseudoTerminal : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TERM", "xterm", 1);
    screen_ = posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(screen_, 0);
    ASSERT_EQ(grantpt(screen_), 0);
    ASSERT_EQ(unlockpt(screen_), 0);
    program_ = open(ptsname(screen_), O_RDWR | O_NOCTTY);
    ASSERT_GE(program_, 0);
  }
  void TearDown() override {
    close(program_);
    close(screen_);
  }

  int screen_ = -1, program_ = -1;
};

TEST_F(PseudoTerminal, HasTheSizeThatItsWindowHasNow) {
  const auto terminal = Terminal::of(program_);
  ASSERT_TRUE(terminal);
  EXPECT_EQ(terminal->size().columns, 80);  // unknown
  winsize window{};
  window.ws_col = 133;
  window.ws_row = 7;
  ASSERT_EQ(ioctl(screen_, TIOCSWINSZ, &window), 0);
  EXPECT_EQ(terminal->size().columns, 133);
  EXPECT_EQ(terminal->size().rows, 7);
}

TEST_F(PseudoTerminal, ShowsWhatIsWritten) {
  const auto terminal = Terminal::of(program_);
  ASSERT_TRUE(terminal);
  terminal->write("seen");
  std::array<char, 16> got{};
  EXPECT_EQ(read(screen_, got.data(), got.size()), 4);
  EXPECT_STREQ(got.data(), "seen");
  EXPECT_EQ(terminal->use(), TerminalUse::Draw) << "not our controlling terminal: it has no jobs";
}

TEST_F(PseudoTerminal, APassingLineIsErasedAtItsEnd) {
  std::array<char, 64> got{};
  {
    const PassingLine line(Terminal::of(program_), "packing");
    EXPECT_GT(read(screen_, got.data(), got.size()), 0);
    EXPECT_STREQ(got.data(), "\r\033[Jpacking\r");
  }
  got.fill(0);
  EXPECT_GT(read(screen_, got.data(), got.size()), 0);
  EXPECT_STREQ(got.data(), "\r\033[J");
  const PassingLine none(std::nullopt, "packing");
}

TEST(BackgroundJob, MayWriteLinesOrNothing) {
  const auto use = [] { return static_cast<int>(Terminal::of(STDERR_FILENO)->use()); };
  EXPECT_EQ(in_background(false, use).code, static_cast<int>(TerminalUse::Lines));
  EXPECT_EQ(in_background(true, use).code, static_cast<int>(TerminalUse::Nothing));
  const auto writes = [] {
    Terminal::of(STDERR_FILENO)->write("x");
    return 0;
  };
  EXPECT_FALSE(in_background(false, writes).stopped);
  EXPECT_TRUE(in_background(true, writes).stopped) << "else nothing is tried here";
}

TEST_F(PseudoTerminal, IsNoneWhereNothingCanBeDrawn) {
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(Terminal::of(program_));
  setenv("TERM", "xterm", 1);
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  EXPECT_FALSE(Terminal::of(pipe_ends[1]));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace depthgrid::terminal_test
