#include "sweeps/page/answer_sentence.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace answer_sentence_test {

std::string sentence(const Comparison& comparison) {
  return answer_sentence(comparison, comparison.effects.front());
}

GridCells arms() {
  GridCells cells;
  cells.arm("base", {2.0, 2.1, 2.2, 2.3, 2.4}).baseline("base");
  cells.arm("lower", {1.5, 1.61, 1.69, 1.8, 1.91});
  cells.arm("same", {2.001, 2.099, 2.201, 2.299, 2.4});
  return cells.arm("noisy", {2.5, 1.8, 2.6, 2.0, 2.3});
}

TEST(AnswerSentence, NamesWhatDiffersAndSaysWhatCouldHaveBeenSeen) {
  const Comparison comparison = arms().by({"arm"});
  const std::string text = sentence(comparison);
  EXPECT_TRUE(text.starts_with(
      "lower differs from base by -0.498 [-0.508, -0.488] nat (better); 2 of 3 are undecided: at "
      "these seeds a single test detects a difference of "))
      << text;
  const double same = evidence_for(comparison.effects.front(), "same").detectable;
  const double noisy = evidence_for(comparison.effects.front(), "noisy").detectable;
  EXPECT_TRUE(text.ends_with(
      fmt::format("of {:.4f} up to {:.2f} nat, depending on the contrast.", same, noisy)))
      << text;
}

TEST(AnswerSentence, OfOneDetectableDifferenceThereIsNoRange) {
  GridCells cells;
  cells.arm("base", {2.0, 2.1, 2.2}).baseline("base").arm("other", {2.5, 1.8, 2.6});
  const std::string text = sentence(cells.by({"arm"}));
  EXPECT_EQ(text.find("up to"), text.npos) << text;
  EXPECT_TRUE(text.ends_with(" nat.")) << text;
}

TEST(AnswerSentence, WithAMarginItSaysWhatHasNoEffect) {
  ComparisonQuery query;
  query.by = {"arm"};
  query.margin = 0.01;
  const std::string text = sentence(arms().compare(query));
  EXPECT_NE(text.find("; 1 of 3 is no effect beyond 0.01 nat; 1 of 3 is undecided"), text.npos)
      << text;
}

TEST(AnswerSentence, TheBaselineIsNamedWhateverIsSaid) {
  GridCells cells;
  cells.arm("base", {2.0, 2.1, 2.2}).baseline("base").arm("other", {2.5, 1.8, 2.6});
  EXPECT_TRUE(sentence(cells.by({"arm"})).starts_with("The difference from base is undecided: at"));
  ComparisonQuery query;
  query.metric = "eval_loss.valid";
  for (CellSummary& cell : cells.listing.cells) {
    cell.metrics[query.metric] = cell.metrics.at("final_loss.valid");
  }
  EXPECT_TRUE(sentence(cells.compare(query))
                  .starts_with("Exploratory: the difference from base is undecided: at"));
  cells.arm("more", {2.6, 1.7, 2.5});
  EXPECT_TRUE(
      sentence(cells.by({"arm"})).starts_with("2 of 2 differences from base are undecided: at"));
}

TEST(AnswerSentence, WithoutAContrastThereIsNone) {
  EXPECT_EQ(sentence(GridCells().arm("only", {1, 2}).by({"arm"})), "");
}

}  // namespace answer_sentence_test
}  // namespace depthgrid
