#include "sweeps/page/resume_seams.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/axis_labels.hpp"
#include "storage/files/journal.hpp"
#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/probed_grid.hpp"

namespace depthgrid {
namespace resume_seams_test {

/// Two arms of two seeds; the first cell has a checkpoint and two seams, the third one seam.
ProbedGrid interrupted() {
  return ProbedGrid(2, 2, [](ProbedCell& cell, std::size_t row) {
    constexpr auto kSeam = static_cast<double>(EventKind::ResumeSeam);
    constexpr auto kOther = static_cast<double>(EventKind::Checkpoint);
    if (row == 0) {
      cell.axis("event", {0, 1, 2}).numbers("event_kind", {kOther, kSeam, kSeam});
      cell.numbers("event_step", {40, 41, 60}).numbers("event_value", {40, 0.25, -0.516035});
    } else {
      cell.axis("event", {0}).numbers("event_kind", {row == 2 ? kSeam : kOther});
      cell.numbers("event_step", {7}).numbers("event_value", {-0.125});
    }
  });
}

TEST(ResumeSeams, AreReadOfCellsWithSeveralAttempts) {
  ProbedGrid grid = interrupted();
  const std::vector<std::size_t> rows = {0, 1, 2, 3};
  EXPECT_TRUE(resume_seams(grid.listing(), rows).empty()) << "one attempt has no seam";
  for (CellSummary& cell : grid.listing().cells) cell.attempts = 2;
  const std::vector<LossSeam> seams = resume_seams(grid.listing(), rows);
  ASSERT_EQ(seams.size(), 3U);
  EXPECT_EQ(seams[0].row, 0U);
  EXPECT_EQ(seams[0].step, 41);
  EXPECT_EQ(seams[1].difference, -0.516035);
  EXPECT_EQ(seams[2].row, 2U);
  std::filesystem::remove(grid.result_of(0));
  EXPECT_EQ(resume_seams(grid.listing(), rows).size(), 1U) << "what is gone has none";
}

TEST(ResumeSeams, OfACellThatGoesOnItsJournalsSay) {
  ProbedGrid grid = interrupted();
  CellSummary& cell = grid.listing().cells[1];
  cell.status = CellStatus::Running;
  cell.attempts = 2;
  const std::filesystem::path folder = grid.result_of(1).parent_path();
  Journal journal(folder / generation_name("journal", 2), {.generation = 2,
                                                           .first_step = 9,
                                                           .kinds = {{"train", {{"train_loss"}}}},
                                                           .attempt_json = "{}",
                                                           .cell = cell.id});
  journal.event(9, EventKind::ResumeSeam, 0.5, "goes on from step 9");
  const std::vector<LossSeam> seams = resume_seams(grid.listing(), {0, 1});
  ASSERT_EQ(seams.size(), 1U);
  EXPECT_EQ(seams[0].step, 9);
  EXPECT_EQ(seams[0].difference, 0.5);
}

TEST(ResumeSeams, ThePageCountsThemAndNamesTheLargest) {
  ProbedGrid grid = interrupted();
  for (CellSummary& cell : grid.listing().cells) cell.attempts = 2;
  const PageBlocks blocks = provenance_section(page_data(grid.listing(), {}, {}));
  const std::string words = words_of(blocks);
  EXPECT_TRUE(contains(words, "3 seams")) << words;
  EXPECT_TRUE(contains(words, "by at most 0.516 (arm 0,s0, from step 60)")) << words;
  const PageTable* const table = table_named(blocks, "seams of resumes");
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(table->csv);
  ASSERT_EQ(table->table.rows.size(), 3U);
  EXPECT_EQ(table->table.rows[1], (std::vector<std::string>{"arm 0,s0", "60", "-0.516"}));
  EXPECT_EQ(table->numbers().rows[1].back(), "-0.516035");
  for (CellSummary& cell : grid.listing().cells) cell.attempts = 1;
  const PageBlocks none = provenance_section(page_data(grid.listing(), {}, {}));
  EXPECT_EQ(table_named(none, "seams of resumes"), nullptr);
}

TEST(ResumeSeams, OfVeryManyTheLargestAreShown) {
  ProbedGrid grid = interrupted();
  std::vector<LossSeam> seams(250, {.row = 3, .step = 5, .difference = 0.25});
  seams.push_back({.row = 1, .step = 8, .difference = -2});
  seams.push_back({.row = 2, .step = 8});  // of a loss that was not finite
  const PageBlocks blocks = seam_blocks(grid.listing(), seams);
  const PageTable* const table = table_named(blocks, "seams of resumes");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->table.rows.size(), 200U);
  EXPECT_EQ(table->table.rows.front().back(), "-2");
  EXPECT_TRUE(contains(words_of(blocks), "252 seams")) << words_of(blocks);
  EXPECT_TRUE(contains(words_of(blocks), "And 52 more")) << words_of(blocks);
}

}  // namespace resume_seams_test
}  // namespace depthgrid
