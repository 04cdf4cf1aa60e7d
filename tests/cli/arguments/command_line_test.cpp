#include "cli/arguments/command_line.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace command_line_test {

constexpr std::string_view kKnown[] = {"red", "blue"};

std::string word_of(const std::vector<std::string>& arguments) {
  CommandLine line("paint red|blue FILE", "Paints.");
  line.argument("WHAT");
  try {
    line.parse(arguments);
    return line.required("WHAT", kKnown);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    return e.what();
  }
}

TEST(CommandLine, AWordOfAListIsReadOrRefusedWithTheList) {
  EXPECT_EQ(word_of({"blue"}), "blue");
  EXPECT_TRUE(word_of({"bleu"}).starts_with("paint: 'bleu' ")) << word_of({"bleu"});
  EXPECT_TRUE(word_of({"bleu"}).ends_with(": red, blue")) << word_of({"bleu"});
  EXPECT_TRUE(word_of({}).starts_with("WHAT ")) << word_of({});
}

TEST(CommandLine, AMissingOptionIsNamedAsItIsTyped) {
  CommandLine line("show --cell CELL", "Shows a cell.");
  line.text("cell", "CELL", "an id");
  line.parse({});
  try {
    line.required("cell");
    FAIL() << "there is no cell";
  } catch (const UserError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("--cell ")) << e.what();
  }
}

std::string refusal_of(const std::vector<std::string>& arguments) {
  CommandLine line("run FILE", "Runs.");
  line.argument("FILE").sweep_options();
  try {
    line.parse(arguments);
  } catch (const UserError& e) {
    const std::string text = e.what();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

TEST(CommandLine, AKeyOfASweepFileAsAnOptionIsToldHowItIsSet) {
  const std::string hint = "; a key of the sweep file is set by --set ";
  EXPECT_EQ(refusal_of({"a.yaml", "--seeds", "3"}),
            "unrecognised option '--seeds'" + hint + "seeds=3");
  EXPECT_TRUE(refusal_of({"a.yaml", "--train.lr=1e-3"}).ends_with(hint + "train.lr=1e-3"));
  EXPECT_TRUE(refusal_of({"a.yaml", "--train.lr"}).ends_with(hint + "train.lr=VALUE"));
  EXPECT_EQ(refusal_of({"a.yaml", "--nonsense"}), "unrecognised option '--nonsense'");
}

}  // namespace command_line_test
}  // namespace depthgrid
