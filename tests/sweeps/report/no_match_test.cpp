#include "sweeps/report/no_match.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace no_match_test {

/// Cells of these levels of a leaf, seed by seed.
Listing cells_at(const std::vector<Value>& levels) {
  Listing out;
  for (const Value& level : levels) {
    CellSummary& cell = out.cells.emplace_back();
    cell.seed = static_cast<std::int64_t>(out.cells.size()) - 1;
    cell.overrides = {{"model.residual.scale", level}};
    out.baseline.push_back(false);
  }
  return out;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NoMatch, NamesTheLevelsOfWhatTheConditionNames) {
  const Listing listing = cells_at({1, 1.0 / 6, 1, "learned"});
  const std::string text = no_match_text(listing, "scale = 2 and (seed > 7 or scale = 3)");
  EXPECT_TRUE(says(text, "'scale = 2 and (seed > 7 or scale = 3)'")) << text;
  EXPECT_TRUE(says(text, "model.residual.scale is 1/6, 1 or learned; seed is 0, 1, 2 or 3"))
      << text;
}

TEST(NoMatch, OfManyNumbersNamesTheEnds) {
  const Listing listing = cells_at(std::vector<Value>(20, 1));
  EXPECT_TRUE(says(no_match_text(listing, "seed = 20"), "seed is from 0 to 19"));
}

}  // namespace no_match_test
}  // namespace depthgrid
