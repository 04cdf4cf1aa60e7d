#include "worker/process/quit_report.hpp"

#include <array>
#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace depthgrid {
namespace quit_report_test {

TEST(QuitReport, SaysWhatTheRankDoesAndGoesOn) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  Watchdog watchdog;
  watchdog.enter(WorkPhase::Evaluation);
  watchdog.beat(120);
  {
    const QuitReport report(watchdog, 3, ends[1]);
    raise(SIGQUIT);
  }
  std::array<char, 512> text{};
  const auto n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  close(ends[1]);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(n)),
            "depthgrid: rank 3, process " + std::to_string(getpid()) +
                ": evaluation, step 120, last sign of life 0 s ago\n");
}

}  // namespace quit_report_test
}  // namespace depthgrid
