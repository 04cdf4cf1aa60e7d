#include "sweeps/orders/bench_order.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace bench_order_test {

TEST(BenchOrder, ReadsBackWhatWasWritten) {
  BenchOrder order;
  order.family = "standard";
  order.cells = 16;
  order.dump = "/tmp/dump";
  order.set = {"model.d_model=64"};
  const BenchOrder back = parse_bench_order(order_text(order));
  EXPECT_EQ(back.what, "step");
  EXPECT_EQ(back.family, "standard");
  EXPECT_EQ(back.cells, 16);
  EXPECT_EQ(back.steps, 50);
  EXPECT_EQ(back.dump, "/tmp/dump");
  EXPECT_EQ(back.set, order.set);
}

TEST(BenchOrder, AnythingElseIsAnError) {
  EXPECT_THROW(parse_bench_order(""), Error);
  EXPECT_THROW(parse_bench_order(R"({"schema":1,"what":"step"})"), Error);
}

}  // namespace bench_order_test
}  // namespace depthgrid
