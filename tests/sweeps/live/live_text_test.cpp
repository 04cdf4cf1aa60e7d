#include "sweeps/live/live_text.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "core/base/printable.hpp"

namespace depthgrid::live_text_test {
namespace {

using Lines = std::vector<std::string>;

LiveView view() {
  return {.sweep = "quickstart",
          .cells_done = 3,
          .cells = 10,
          .cell_steps_done = 1260,
          .cell_steps = 3000,
          .fraction = 0.42,
          .elapsed = 63,
          .remaining = 87,
          .jobs = {{0, "hidden=64,scale=1,s0 … hidden=64,scale=1,s1", 2, 120, 300, 2.41234, 2.52341,
                    420.3, ""},
                   {1, "standard,s0", 1, 300, 300, 2.1, 2.1, 99.4, "final evaluation"}},
          .news = {{LiveFate::Failed, "hidden=32,scale=1,s0: out of memory"}}};
}

TEST(LiveText, ShowsTheSweepAndEachJobAt80Columns) {
  EXPECT_EQ(
      live_lines(view(), 80, 24),
      (Lines{"[#########################...................................]  42 %",
             "quickstart: 3 of 10 cells, elapsed 1:03, remaining 1:27",
             "  hidden=64,sc…4,scale=1,s1  step 120/300  loss 2.4123-2.5234  420 cell-steps/s",
             "  standard,s0                                  step 300/300  final evaluation",
             "  failed: hidden=32,scale=1,s0: out of memory"}));
}

TEST(LiveText, ShowsTheSameAt40Columns) {
  EXPECT_EQ(
      live_lines(view(), 40, 24),
      (Lines{"[#############..................]  42 %", "3/10  elapsed 1:03  remaining 1:27",
             "  hidden=64…ale=1,s1  120 2.4-2.5 420/s", "  standard,s0  300/300 final evaluation",
             "  failed: hidden=32…1,s0: out of memory"}));
}

TEST(LiveText, NoLineIsAsWideAsTheScreen) {
  LiveView v = view();
  v.sweep = std::string(300, 'n');
  v.jobs[0].label = "深さ=深さ,さ … Δt=\x1b[31m";
  v.jobs[1].phase = std::string(90, 'p');
  v.news.push_back({LiveFate::Failed, "x: " + std::string(200, 'w') + "\nsecond line"});
  for (int columns = 1; columns < 220; ++columns) {
    for (const std::string& line : live_lines(v, columns, 24)) {
      ASSERT_LT(display_width(line), static_cast<std::size_t>(std::max(columns, 2))) << line;
      ASSERT_EQ(line.find_first_of("\n\x1b"), std::string::npos);
    }
  }
}

TEST(LiveText, FitsOnTheScreenAndCountsTheRest) {
  LiveView v = view();
  for (int i = 0; i < 1000; ++i) v.jobs.push_back(v.jobs[1]);
  for (int i = 0; i < 50; ++i)
    v.news.push_back({LiveFate::Failed, fmt::format("cell{}: error", i)});
  for (int rows = 1; rows < 40; ++rows) {
    EXPECT_LE(live_lines(v, 80, rows).size(), static_cast<std::size_t>(std::max(rows - 2, 1)));
  }
  const Lines lines = live_lines(v, 80, 20);
  EXPECT_EQ(lines[13], "  … and 991 more jobs");
  EXPECT_EQ(lines.back(), "  51 failed in all");
}

TEST(LiveText, NamesDivergedCellsAmongTheNews) {
  LiveView v = view();
  v.news.push_back({LiveFate::Diverged, "lr=1,s0: diverged at step 7"});
  EXPECT_EQ(live_lines(v, 80, 24).back(), "  lr=1,s0: diverged at step 7");
  EXPECT_TRUE(plain_line(v).ends_with("; 1 failed, 1 diverged"));
  v.news.push_back({LiveFate::Cancelled, "lr=2,s0: cancelled"});
  EXPECT_EQ(live_lines(v, 80, 24).back(), "  lr=2,s0: cancelled");
  EXPECT_TRUE(plain_line(v).ends_with("; 1 failed, 1 diverged, 1 cancelled")) << plain_line(v);
  for (int i = 0; i < 2; ++i) v.news.push_back(v.news.back());
  EXPECT_EQ(live_lines(v, 80, 24).back(), "  1 failed, 1 diverged, 3 cancelled in all");
}

TEST(LiveText, ShowsWhatIsUnknownAsSuch) {
  LiveView v = view();
  v.remaining = kNaN;
  v.jobs[0].low = v.jobs[0].high = v.jobs[0].rate = kNaN;
  const Lines lines = live_lines(v, 120, 24);
  EXPECT_NE(lines[1].find("remaining ?"), std::string::npos);
  EXPECT_NE(lines[2].find("loss -  - cell-steps/s"), std::string::npos) << lines[2];
}

TEST(LiveText, SaysTheSameOnOneLine) {
  EXPECT_EQ(plain_line(view()),
            "42 % (3 of 10 cells), elapsed 1:03, remaining 1:27; "
            "hidden=64,scale=1,s0 … hidden=64,scale=1,s1 step 120/300  loss 2.4123-2.5234  420/s, "
            "standard,s0 300/300 final evaluation; 1 failed");
}

TEST(LiveText, WritesTimes) {
  EXPECT_EQ(clock_text(3.4), "0:03");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(187384), "2 d 04:03");
  EXPECT_EQ(clock_text(kNaN), "?");
}

}  // namespace
}  // namespace depthgrid::live_text_test
