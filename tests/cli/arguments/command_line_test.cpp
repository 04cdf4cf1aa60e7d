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

/// What `paint` says to these, of options of all kinds; "" if it reads them.
std::string answer_to(const std::vector<std::string>& arguments) {
  CommandLine line("paint FILE", "Paints.");
  line.argument("FILE")
      .text("colour", "WORD", "red, blue or none")
      .text("share", "X", "of the colour")
      .list("layers", "NAME,...", "which")
      .number("coats", 2, "how many")
      .number("seed", {}, "of the pattern")
      .flag("dry", "paint nothing")
      .json()
      .needs("share", "colour")
      .needs("coats", "colour")
      .excludes("dry", "json");
  try {
    line.parse(arguments);
    const double share = line.real_of("share", 0.5, 0, 1);
    return line.word_of("colour", {"red", "blue", "none"}) + (share == 0.25 ? " quarter" : "") +
           (line.number_of("coats", 1) == 3 ? " thrice" : "") +
           (line.has("seed") ? " seeded" : "") + (line.words_of("layers").empty() ? "" : " layers");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    return e.what();
  }
}

TEST(CommandLine, OptionsThatCannotStandTogetherAreNamed) {
  EXPECT_EQ(answer_to({"--dry"}), "");
  EXPECT_EQ(answer_to({"--json"}), "");
  EXPECT_EQ(answer_to({"--dry", "--json"}),
            "paint: --dry and --json cannot be joined: leave one out");
  EXPECT_EQ(answer_to({"--share", "0.25"}),
            "paint: --share belongs to --colour, which is missing: add it, or leave --share out");
  EXPECT_EQ(answer_to({"--share", "0.25", "--colour", "red"}), "red quarter");
}

TEST(CommandLine, ADefaultIsNotGiven) {
  EXPECT_EQ(answer_to({"--coats", "2"}),
            "paint: --coats belongs to --colour, which is missing: add it, or leave --coats out");
  EXPECT_EQ(answer_to({"--coats", "3", "--colour", "red", "--seed", "0"}), "red thrice seeded");
}

TEST(CommandLine, ValuesAreReadOrRefusedWithWhatIsExpected) {
  const auto share = [](const std::string& text) {
    return answer_to({"--colour", "red", "--share", text});
  };
  EXPECT_EQ(share("0.25"), "red quarter");
  for (const std::string text : {"much", "-0.5", "1.5", "nan", "0.25x"}) {
    EXPECT_EQ(share(text), "--share is " + text + "; expected a number of 0 or more, 1 at most");
  }
  EXPECT_EQ(answer_to({"--colour", "grey"}), "--colour grey: red, blue or none was expected");
  EXPECT_EQ(answer_to({"--layers", "a,b"}), " layers");
  EXPECT_TRUE(answer_to({"--layers", ","}).starts_with("paint: --layers names nothing"));
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
