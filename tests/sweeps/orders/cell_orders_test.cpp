#include "sweeps/orders/cell_orders.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace cell_orders_test {

TEST(ModelOrders, AreTheDocumentedTexts) {
  EXPECT_EQ(order_text(ExportOrder{{"/s", "98678699848f", "best"}, "hf-gpt2", "out", true}),
            R"({"schema":1,"from":{"store":"/s","cell":"98678699848f","at":"best"},)"
            R"("layout":"hf-gpt2","out":"out","json":true})");
  EXPECT_EQ(order_text(EvalOrder{{"/s", "98678699848f"}, "a.txt", "dev", 3, true, false, {"all"}}),
            R"({"schema":1,"from":{"store":"/s","cell":"98678699848f","at":"final"},)"
            R"("data":"a.txt","split":"dev","windows":3,"by_position":true,"json":false,)"
            R"("modes":["all"],"deciders":[]})");
}

TEST(ModelOrders, ReadBackWhatWasWritten) {
  const GenerateOrder order{
      {"/s", "98678699848f"}, "Ein \"Satz\"\n", 7, 0.5, 40, 0.9, 11, {1, -0.5}, true};
  const GenerateOrder back = parse_generate_order(order_text(order));
  EXPECT_EQ(back.from.at, "final");
  EXPECT_EQ(back.prompt, order.prompt);
  EXPECT_EQ(back.tokens, 7);
  EXPECT_EQ(back.temperature, 0.5);
  EXPECT_EQ(back.top_k, 40);
  EXPECT_EQ(back.top_p, 0.9);
  EXPECT_EQ(back.seed, 11);
  EXPECT_EQ(back.control, order.control);
  EXPECT_TRUE(back.json);
  EXPECT_EQ(parse_export_order(order_text(ExportOrder{{}, "native", "o", false})).out, "o");
  EXPECT_EQ(parse_eval_order(order_text(EvalOrder{{}, "d", "test", 9})).windows, 9);
  EXPECT_THROW(parse_eval_order("{}"), Error);
}

TEST(ModelOrders, APromptThatIsNotUtf8IsTheUsersMistake) {
  EXPECT_THROW(order_text(GenerateOrder{{}, "\xFF"}), UserError);
}

}  // namespace cell_orders_test
}  // namespace depthgrid
