#include "sweeps/orders/orders.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace orders_test {

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
  const GenerateOrder back = parse_order<GenerateOrder>(order_text(order));
  EXPECT_EQ(back.from.at, "final");
  EXPECT_EQ(back.prompt, order.prompt);
  EXPECT_EQ(back.tokens, 7);
  EXPECT_EQ(back.temperature, 0.5);
  EXPECT_EQ(back.top_k, 40);
  EXPECT_EQ(back.top_p, 0.9);
  EXPECT_EQ(back.seed, 11);
  EXPECT_EQ(back.control, order.control);
  EXPECT_TRUE(back.json);
  EXPECT_EQ(parse_order<ExportOrder>(order_text(ExportOrder{{}, "native", "o", false})).out, "o");
  EXPECT_EQ(parse_order<EvalOrder>(order_text(EvalOrder{{}, "d", "test", 9})).windows, 9);
  const TokensOrder tokens = parse_order<TokensOrder>(order_text(TokensOrder{"/s", "98", 3}));
  EXPECT_EQ(tokens.store + tokens.cell, "/s98");
  EXPECT_EQ(tokens.sequences, 3);
  EXPECT_THROW(parse_order<EvalOrder>("{}"), Error);
}

TEST(ModelOrders, APromptThatIsNotUtf8IsTheUsersMistake) {
  EXPECT_THROW(order_text(GenerateOrder{{}, "\xFF"}), UserError);
}

TEST(RunOrder, IsTheDocumentedText) {
  EXPECT_EQ(order_text(RunOrder{"a.yaml", "results/a", {"train.steps=3"}, true, "json"}),
            R"({"schema":1,"file":"a.yaml","store":"results/a","set":["train.steps=3"],"yes":true,)"
            R"("progress":"json","only":"","rerun":[],"mode":"run","cells":[],"board":"",)"
            R"("hang":0.0,"shared_group":false})");
}

TEST(RunOrder, ReadsBackWhatWasWritten) {
  const RunOrder order =
      parse_order<RunOrder>(order_text(RunOrder{"a b.yaml", "/s", {"x=\"y\"", "z=1,2"}}));
  EXPECT_EQ(order.file, "a b.yaml");
  EXPECT_EQ(order.store, "/s");
  EXPECT_EQ(order.set, (std::vector<std::string>{"x=\"y\"", "z=1,2"}));
  EXPECT_FALSE(order.yes);
  EXPECT_EQ(order.progress, "auto");
  RunOrder one = order;
  one.mode = RunMode::Apart;
  one.cells = {"98678699848f"};
  one.only = "tag = 'a b'";
  EXPECT_EQ(parse_order<RunOrder>(order_text(one)).mode, RunMode::Apart);
  EXPECT_EQ(parse_order<RunOrder>(order_text(one)).cells, one.cells);
  EXPECT_EQ(parse_order<RunOrder>(order_text(one)).only, "tag = 'a b'");
}

TEST(RunOrder, AnUnknownModeIsAnError) {
  std::string text = order_text(RunOrder{});
  text.replace(text.find("\"run\""), 5, "\"walk\"");
  EXPECT_THROW(parse_order<RunOrder>(text), Error) << text;
}

TEST(RunOrder, AnythingElseIsAnError) {
  for (const char* text : {"", "{}", "[]", "{\"schema\":2}", "{\"schema\":1,\"file\":3}"}) {
    EXPECT_THROW(parse_order<RunOrder>(text), Error) << text;
  }
}

TEST(BenchOrder, ReadsBackWhatWasWritten) {
  BenchOrder order;
  order.family = "standard";
  order.cells = 16;
  order.dump = "/tmp/dump";
  order.device = "cuda";
  order.launches = true;
  order.set = {"model.d_model=64"};
  const BenchOrder back = parse_order<BenchOrder>(order_text(order));
  EXPECT_EQ(back.what, "step");
  EXPECT_EQ(back.family, "standard");
  EXPECT_EQ(back.cells, 16);
  EXPECT_EQ(back.steps, 50);
  EXPECT_EQ(back.dump, "/tmp/dump");
  EXPECT_EQ(back.device, "cuda");
  EXPECT_TRUE(back.launches);
  EXPECT_EQ(back.set, order.set);
}

TEST(BenchOrder, AnythingElseIsAnError) {
  EXPECT_THROW(parse_order<BenchOrder>(""), Error);
  EXPECT_THROW(parse_order<BenchOrder>(R"({"schema":1,"what":"step"})"), Error);
}

}  // namespace orders_test
}  // namespace depthgrid
