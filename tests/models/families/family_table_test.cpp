// The tables of families: names and facts in core/config, builders and closed forms here.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/family_facts.hpp"
#include "models/model_factory.hpp"

namespace depthgrid {
namespace family_table_test {

template <class Rows>
std::vector<std::string> sorted_names(const Rows& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.emplace_back(row.name);
  std::ranges::sort(out);
  return out;
}

TEST(FamilyTable, FactsBuildersAndWordsNameTheSameFamilies) {
  std::string words;
  for (const FamilyFacts& row : family_facts()) {
    words += (words.empty() ? "" : " ") + std::string(row.name);
  }
  EXPECT_EQ(words, kFamilyWords);
  EXPECT_EQ(sorted_names(families()), sorted_names(family_facts()));
  for (const FamilyEntry& row : families()) EXPECT_NE(row.parameters, nullptr) << row.name;
}

TEST(FamilyTable, FactsGoTogether) {
  for (const FamilyFacts& row : family_facts()) {
    EXPECT_TRUE(!row.generated || row.timed) << row.name;
    EXPECT_EQ(row.skips, row.teaches != row.predicts) << row.name;
    EXPECT_EQ(&facts_of(row.name), &row);
  }
  EXPECT_FALSE(facts_of("none").timed || facts_of("none").skips || facts_of("none").plain);
}

}  // namespace family_table_test
}  // namespace depthgrid
