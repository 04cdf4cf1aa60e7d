#include "sweeps/page/leaf_names.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace leaf_names_test {

TEST(ShortLeaf, IsTheLastPartWhereNoOtherEndsSo) {
  EXPECT_EQ(short_leaf("model.modulation.hidden", {"model.modulation.hidden", "train.lr"}),
            "hidden");
  EXPECT_EQ(short_leaf("model.scale", {"model.scale", "data.scale"}), "model.scale");
  EXPECT_EQ(short_leaf("arm", {}), "arm");
}

}  // namespace leaf_names_test
}  // namespace depthgrid
