#include "sweeps/orders/run_order.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace run_order_test {

TEST(RunOrder, IsTheDocumentedText) {
  EXPECT_EQ(order_text(RunOrder{"a.yaml", "results/a", {"train.steps=3"}, true, "json"}),
            R"({"schema":1,"file":"a.yaml","store":"results/a","set":["train.steps=3"],"yes":true,)"
            R"("progress":"json","cell":""})");
}

TEST(RunOrder, ReadsBackWhatWasWritten) {
  const RunOrder order =
      parse_run_order(order_text(RunOrder{"a b.yaml", "/s", {"x=\"y\"", "z=1,2"}}));
  EXPECT_EQ(order.file, "a b.yaml");
  EXPECT_EQ(order.store, "/s");
  EXPECT_EQ(order.set, (std::vector<std::string>{"x=\"y\"", "z=1,2"}));
  EXPECT_FALSE(order.yes);
  EXPECT_EQ(order.progress, "auto");
  RunOrder one = order;
  one.cell = "98678699848f";
  EXPECT_EQ(parse_run_order(order_text(one)).cell, "98678699848f");
}

TEST(RunOrder, AnythingElseIsAnError) {
  for (const char* text : {"", "{}", "[]", "{\"schema\":2}", "{\"schema\":1,\"file\":3}"}) {
    EXPECT_THROW(parse_run_order(text), Error) << text;
  }
}

}  // namespace run_order_test
}  // namespace depthgrid
