#include "sweeps/compare/factor_name.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace factor_name_test {

GridCells cells_of_widths() {
  GridCells cells({{"seed", 0}, {"train.lr", 1e-3}});
  return cells.grid({{"model.modulation.hidden", {4, 8}}, {"train.steps", {10, 20}}}, 1,
                    [](const auto&, std::int64_t) { return 1; });
}

std::string refusal(const std::string& word) {
  try {
    factor_named(cells_of_widths().listing, "--by", word);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    return e.what();
  }
  return {};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(FactorName, IsALeafThatVariesOrItsLastPart) {
  const Listing listing = cells_of_widths().listing;
  EXPECT_EQ(factor_named(listing, "--by", "hidden"), "model.modulation.hidden");
  EXPECT_EQ(factor_named(listing, "--by", "modulation.hidden"), "model.modulation.hidden");
  EXPECT_EQ(factor_named(listing, "--by", "arm"), "arm");
}

TEST(FactorName, OfALeafThatDoesNotVaryItsValueAndThoseThatDoAreNamed) {
  for (const std::string word : {"lr", "train.lr", "learning_rate"}) {
    const std::string text = refusal(word);
    EXPECT_TRUE(says(text, "train.lr is 0.001")) << text;
    EXPECT_TRUE(says(text, "train.steps") && says(text, "model.modulation.hidden")) << text;
  }
}

TEST(FactorName, SeedsAreTheUnitAndNoFactor) {
  EXPECT_TRUE(says(refusal("seed"), "seeds are the unit")) << refusal("seed");
  EXPECT_TRUE(says(refusal("seed"), "model.modulation.hidden")) << refusal("seed");
}

TEST(FactorName, OtherNamesOfALeafLeadToIt) {
  EXPECT_TRUE(says(refusal("h_mod"), "did you mean model.modulation.hidden?"));
  EXPECT_TRUE(says(refusal("stps"), "train.steps"));
  EXPECT_TRUE(says(refusal("nothing"), "train.steps"));
}

}  // namespace factor_name_test
}  // namespace depthgrid
