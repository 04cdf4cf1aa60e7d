#include "sweeps/protocol/commands.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace commands_test {

TEST(ModelCommands, AreTheDocumentedTexts) {
  EXPECT_EQ(command_json(ExportCommand{{"/s", "98678699848f", "best"}, "hf-gpt2", "out", true}),
            R"({"schema":1,"from":{"store":"/s","cell":"98678699848f","at":"best",)"
            R"("solver_steps":0,"solver_method":"","control":[]},)"
            R"("layout":"hf-gpt2","out":"out","json":true})");
  EXPECT_EQ(
      command_json(EvalCommand{{"/s", "98678699848f"}, "a.txt", "dev", 3, true, false, {"all"}}),
      R"({"schema":1,"from":{"store":"/s","cell":"98678699848f","at":"final",)"
      R"("solver_steps":0,"solver_method":"","control":[]},)"
      R"("data":"a.txt","split":"dev","windows":3,"by_position":true,"json":false,)"
      R"("modes":["all"],"deciders":[]})");
}

TEST(ModelCommands, ReadBackWhatWasWritten) {
  const GenerateCommand command{
      {"/s", "98678699848f"}, "Ein \"Satz\"\n", 7, 0.5, 40, 0.9, 11, {1, -0.5}, true};
  const GenerateCommand back = parse_command<GenerateCommand>(command_json(command));
  EXPECT_EQ(back.from.at, "final");
  EXPECT_EQ(back.prompt, command.prompt);
  EXPECT_EQ(back.tokens, 7);
  EXPECT_EQ(back.temperature, 0.5);
  EXPECT_EQ(back.top_k, 40);
  EXPECT_EQ(back.top_p, 0.9);
  EXPECT_EQ(back.seed, 11);
  EXPECT_EQ(back.control, command.control);
  EXPECT_TRUE(back.json);
  EXPECT_EQ(parse_command<ExportCommand>(command_json(ExportCommand{{}, "native", "o", false})).out,
            "o");
  EXPECT_EQ(parse_command<EvalCommand>(command_json(EvalCommand{{}, "d", "test", 9})).windows, 9);
  const TokensCommand tokens =
      parse_command<TokensCommand>(command_json(TokensCommand{"/s", "98", 3}));
  EXPECT_EQ(tokens.store + tokens.cell, "/s98");
  EXPECT_EQ(tokens.sequences, 3);
  EXPECT_THROW(parse_command<EvalCommand>("{}"), Error);
}

TEST(ModelCommands, APromptThatIsNotUtf8IsTheUsersMistake) {
  EXPECT_THROW(command_json(GenerateCommand{{}, "\xFF"}), UserError);
}

TEST(RunCommand, IsTheDocumentedText) {
  EXPECT_EQ(command_json(RunCommand{"a.yaml", "results/a", {"train.steps=3"}, true, "json"}),
            R"({"schema":1,"file":"a.yaml","store":"results/a","set":["train.steps=3"],"yes":true,)"
            R"("progress":"json","only":"","rerun":[],"mode":"run","cells":[],"board":"",)"
            R"("hang":0.0,"shared_group":false})");
}

TEST(RunCommand, ReadsBackWhatWasWritten) {
  const RunCommand command =
      parse_command<RunCommand>(command_json(RunCommand{"a b.yaml", "/s", {"x=\"y\"", "z=1,2"}}));
  EXPECT_EQ(command.file, "a b.yaml");
  EXPECT_EQ(command.store, "/s");
  EXPECT_EQ(command.set, (std::vector<std::string>{"x=\"y\"", "z=1,2"}));
  EXPECT_FALSE(command.yes);
  EXPECT_EQ(command.progress, "auto");
  RunCommand one = command;
  one.mode = RunMode::Apart;
  one.cells = {"98678699848f"};
  one.only = "tag = 'a b'";
  EXPECT_EQ(parse_command<RunCommand>(command_json(one)).mode, RunMode::Apart);
  EXPECT_EQ(parse_command<RunCommand>(command_json(one)).cells, one.cells);
  EXPECT_EQ(parse_command<RunCommand>(command_json(one)).only, "tag = 'a b'");
}

TEST(RunCommand, AnUnknownModeIsAnError) {
  std::string text = command_json(RunCommand{});
  text.replace(text.find("\"run\""), 5, "\"walk\"");
  EXPECT_THROW(parse_command<RunCommand>(text), Error) << text;
}

TEST(RunCommand, AnythingElseIsAnError) {
  for (const char* text : {"", "{}", "[]", "{\"schema\":2}", "{\"schema\":1,\"file\":3}"}) {
    EXPECT_THROW(parse_command<RunCommand>(text), Error) << text;
  }
}

TEST(BenchCommand, ReadsBackWhatWasWritten) {
  BenchCommand command;
  command.family = "standard";
  command.cells = 16;
  command.dump = "/tmp/dump";
  command.device = "cuda";
  command.launches = true;
  command.set = {"model.d_model=64"};
  const BenchCommand back = parse_command<BenchCommand>(command_json(command));
  EXPECT_EQ(back.what, "step");
  EXPECT_EQ(back.family, "standard");
  EXPECT_EQ(back.cells, 16);
  EXPECT_EQ(back.steps, 50);
  EXPECT_EQ(back.dump, "/tmp/dump");
  EXPECT_EQ(back.device, "cuda");
  EXPECT_TRUE(back.launches);
  EXPECT_EQ(back.set, command.set);
}

TEST(BenchCommand, AnythingElseIsAnError) {
  EXPECT_THROW(parse_command<BenchCommand>(""), Error);
  EXPECT_THROW(parse_command<BenchCommand>(R"({"schema":1,"what":"step"})"), Error);
}

}  // namespace commands_test
}  // namespace depthgrid
