#include "sweeps/report/evaluation_windows.hpp"

#include <gtest/gtest.h>

#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/report/evaluated_arms.hpp"

namespace depthgrid {
namespace evaluation_windows_test {

const std::vector<std::string> kBoth = {"final_loss.valid", "eval_loss.valid"};

std::string note_on(const char* final, const char* periodic) {
  return std::string("final_loss: the last weights on ") + final +
         "; eval_loss: the last periodic evaluation, on " + periodic + "\n";
}

/// What the note says of a finished cell, whose evaluations count 2048 tokens.
std::string note_of_finished(std::int64_t asked, std::int64_t seq_len) {
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store,
               synthetic_sweep(
                   {0.1}, 1,
                   {{"eval.windows", asked}, {"data.seq_len", seq_len}, {"eval.stride", seq_len}}));
  finish_cell(store, read_plan(store), 0, 5);
  return losses_note(list_store(store, "s"), {0}, kBoth);
}

TEST(LossesNote, DoesNotSpeakOfMoreWindowsThanThereWere) {
  EXPECT_EQ(note_of_finished(16, 128), note_on("the whole split", "16 windows"));
  EXPECT_EQ(note_of_finished(17, 128), note_on("the whole split", "the whole split"))
      << "sixteen windows have 2048 tokens";
  EXPECT_EQ(note_of_finished(17, 127), note_on("the whole split", "17 windows"))
      << "the last one may be shorter";
  EXPECT_EQ(note_of_finished(64, 4096), note_on("the whole split", "the whole split"));
}

TEST(LossesNote, SaysWhatIsAskedForAsLongAsThereIsNoResult) {
  const Sweep sweep = synthetic_sweep({0.1}, 1, {{"eval.windows", std::int64_t{64}}});
  EXPECT_EQ(losses_note(list_sweep(sweep, "s"), {0}, kBoth),
            note_on("the whole split", "64 windows"));
}

TEST(LossesNote, IsThereOnlyWhereBothLossesAreShown) {
  const Listing listing = evaluated_arms({{}});
  EXPECT_EQ(losses_note(listing, {0}, {"final_loss.valid", "train_loss"}), "");
  EXPECT_NE(losses_note(listing, {0}, {"eval_loss.dev", "final_loss.test"}), "");
}

/// Three equal cells on a split with fewer windows than asked for; the last two have no figure.
Listing one_of_three() {
  const ValueMap leaves = {{"eval.final_windows", 1000}, {"eval.windows", 500}};
  Listing out = evaluated_arms({leaves, leaves, leaves});
  out.cells[0].metrics = {{"final_loss.valid", 2.0},
                          {"final_tokens.valid", 40 * 128},
                          {"eval_loss.valid", 2.0},
                          {"eval_tokens.valid", 40 * 128}};
  out.cells[1].status = CellStatus::Diverged;
  out.cells[1].metrics = {{"train_loss", 9.0}};
  out.cells[2].status = CellStatus::Pending;
  return out;
}

TEST(LossesNote, CellsWithoutAFigureDoNotMakeWindowsDiffer) {
  Listing listing = one_of_three();
  EXPECT_EQ(losses_note(listing, {0, 1, 2}, kBoth), note_on("the whole split", "the whole split"));
  listing.cells[1].metrics = {{"eval_loss.valid", 3.0}, {"eval_tokens.valid", 40 * 128}};
  EXPECT_EQ(losses_note(listing, {0, 1, 2}, kBoth), note_on("the whole split", "the whole split"))
      << "diverged after an evaluation";
}

TEST(LossesNote, CellsThatAreNotShownDoNotMakeWindowsDiffer) {
  Listing listing = evaluated_arms({{{"eval.windows", 8}}, {{"eval.windows", 16}}});
  for (CellSummary& cell : listing.cells) {
    cell.metrics = {{"eval_loss.valid", 2.0}, {"eval_tokens.valid", 4096}, {"final_loss.valid", 2}};
  }
  const std::string differ = "numbers of windows that differ between cells";
  EXPECT_EQ(losses_note(listing, {0, 1}, kBoth), note_on("the whole split", differ.c_str()));
  EXPECT_EQ(losses_note(listing, {0}, kBoth), note_on("the whole split", "8 windows"));
  listing.cells[1].in_plan = false;
  keep_plan(listing);
  EXPECT_EQ(losses_note(listing, {0}, kBoth), note_on("the whole split", "8 windows"));
}

TEST(LossesNote, TellsSplitsApartWhereOneIsShorter) {
  Listing listing = evaluated_arms({{{"eval.windows", 64}}});
  listing.cells[0].metrics = {{"eval_loss.valid", 2.0},  {"eval_tokens.valid", 64 * 128},
                              {"eval_loss.dev", 2.0},    {"eval_tokens.dev", 100},
                              {"final_loss.valid", 2.0}, {"final_tokens.valid", 100}};
  EXPECT_EQ(losses_note(listing, {0}, {"final_loss.valid", "eval_loss.valid", "eval_loss.dev"}),
            note_on("the whole split", "64 windows (valid), the whole split (dev)"));
}

TEST(EvalWindows, AreSlidingWhereAStrideIsLessThanAWindow) {
  const Listing listing = evaluated_arms({{}, {{"eval.stride", 32}}});
  EXPECT_EQ(eval_windows(listing, {0}), "disjoint");
  EXPECT_EQ(eval_windows(listing, {1}), "sliding");
  EXPECT_EQ(eval_windows(listing, {0, 1}), "mixed");
}

}  // namespace evaluation_windows_test
}  // namespace depthgrid
