#include "storage/cells/row_layout.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace row_layout_test {

TEST(RowLayout, PlacesFollowFromTheTableOfVariables) {
  RowLayout layout;
  layout.give({"layer", 3, {}, {}});

  const RowSlot loss = layout.add("train_loss"), groups = layout.add("train_grad_norm_group");
  const RowSlot eval = layout.add("eval_loss"), rate = layout.add("routing_rate");
  const RowSlot tokens = layout.add("train_tokens");

  EXPECT_EQ(layout.kinds(),
            (std::vector<RowKind>{
                {"train", {{"train_loss", 1}, {"train_grad_norm_group", 17}, {"train_tokens", 1}}},
                {"eval", {{"eval_loss", 4}}},
                {"probe", {{"routing_rate", 30}}}}));
  EXPECT_EQ(loss.count, 1U);
  EXPECT_EQ(groups.first, 1U);
  EXPECT_EQ(tokens.first, 18U);
  EXPECT_EQ(eval.kind, 1U);
  EXPECT_EQ(rate.count, 30U);
  EXPECT_TRUE(layout.axes().empty()) << "the length of one axis follows from the numbers";
}

TEST(RowLayout, RefusesWhatCannotBeLaidOut) {
  RowLayout layout;
  layout.add("train_loss");

  EXPECT_THROW(layout.add("train_los"), Error);
  EXPECT_THROW(layout.add("train_loss"), Error) << "twice";
  EXPECT_THROW(layout.add("final_loss"), Error) << "no series";
  EXPECT_THROW(layout.add("event_step"), Error) << "of no cell";
  EXPECT_THROW(layout.add("routing_rate"), Error) << "how many layers?";
}

}  // namespace row_layout_test
}  // namespace depthgrid
