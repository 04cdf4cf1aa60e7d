#include "core/train/optimizer/optimizer_table.hpp"

#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace optimizer_table_test {

TEST(OptimizerTable, HoldsTheWordsOfTheLeaf) {
  std::set<std::string> words, rows;
  const Leaf& leaf = schema()[find_leaf("train.optimizer")];
  std::istringstream list{std::string(leaf.words)};
  for (std::string word; list >> word;) words.insert(word);
  for (const OptimizerRow& row : optimizer_rows()) rows.emplace(row.word);

  EXPECT_EQ(rows, words);
}

TEST(OptimizerTable, EveryRowFitsTheArenaAndReadsLeavesThatExist) {
  for (const OptimizerRow& row : optimizer_rows()) {
    EXPECT_LE(row.moments.size(), kMaxMoments) << row.word;
    EXPECT_LE(row.scalars.size(), kMaxOptimizerScalars) << row.word;
    for (const auto leaf : row.scalars) EXPECT_LT(find_leaf(leaf), schema().size()) << leaf;
    EXPECT_NE(row.make(), nullptr) << row.word;
  }
}

TEST(OptimizerTable, NamesOfTheMomentsAreThoseOfCheckpointsOfBefore) {
  for (const char* word : {"adam", "adamw"}) {
    const auto names = optimizer_row(word).moments;
    EXPECT_EQ((std::set<std::string_view>(names.begin(), names.end())),
              (std::set<std::string_view>{"first_moment", "second_moment"}));
  }
  EXPECT_THROW(optimizer_row("lion"), Error);
}

}  // namespace optimizer_table_test
}  // namespace depthgrid
