#include "storage/cells/mask_churn.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace mask_churn_test {

/// Looks at two layers, of which the first never skips, with masks of one byte.
MergedRows looks(const std::vector<double>& bytes) {
  MergedRows out;
  out.kind = {"probe", {{"routing_mask", 2}}};
  out.rows.width = 2;
  std::int64_t step = 0;
  for (const double byte : bytes) out.rows.add(++step, std::vector<double>{kNaN, byte});
  return out;
}

const std::vector<RowAxis> kLayers = {{"layer", 2, {}, {}}};

TEST(MaskChurn, IsOneLessTheShareInCommon) {
  const auto found = mask_churns(looks({0b1111, 0b1111, 0b1100, 0b0011, 0b0111}), kLayers);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].variable, "routing_churn");
  const std::vector<double>& n = found[0].numbers;
  ASSERT_EQ(n.size(), 10U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(std::isnan(n[2 * i])) << "layer without masks";
  EXPECT_TRUE(std::isnan(n[1])) << "nothing came before";
  EXPECT_EQ(n[3], 0);
  EXPECT_EQ(n[5], 0.5);
  EXPECT_EQ(n[7], 1);
  EXPECT_NEAR(n[9], 1.0 / 3, 1e-15);
}

TEST(MaskChurn, LooksOfOtherProbesAreNoMasks) {
  const auto found = mask_churns(looks({0b1111, kNaN, 0b0011}), kLayers);
  EXPECT_TRUE(std::isnan(found.at(0).numbers[3]));
  EXPECT_EQ(found.at(0).numbers[5], 0.5);
}

TEST(MaskChurn, OfMasksThatSelectNothingIsUndefined) {
  EXPECT_TRUE(std::isnan(mask_churns(looks({0, 0}), kLayers).at(0).numbers[3]));
}

TEST(MaskChurn, RowsWithoutMasksHaveNone) {
  MergedRows rows;
  rows.kind = {"probe", {{"gate_mean", 1}}};
  rows.rows.width = 1;
  rows.rows.add(1, std::vector<double>{1});
  EXPECT_TRUE(mask_churns(rows, kLayers).empty());
  EXPECT_TRUE(mask_churns(looks({1}), {}).empty());
}

}  // namespace mask_churn_test
}  // namespace depthgrid
