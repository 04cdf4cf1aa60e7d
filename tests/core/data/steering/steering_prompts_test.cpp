#include "core/data/steering/steering_prompts.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace steering_prompts_test {

using Ids = std::vector<std::uint32_t>;
using Words = std::vector<std::string>;

const Words kNames = {"mood", "scale"};

std::vector<SteeringPrompt> read(const std::string& lines, bool others_allowed = false) {
  return read_steering_prompts(lines, "prompts.jsonl", kNames, others_allowed);
}

ExitCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.code();
  }
  return ExitCode::Done;
}

std::string refusal(const std::string& lines) {
  return test::message_of<UserError>([&] { read(lines); });
}

bool tells(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

/// A train prompt for each axis.
const std::string kMood =
    R"({"axis": "mood", "part": "train", "prompt": "It is", "positive": [" fun"], "negative": [" sad"]})"
    "\n";
const std::string kScale =
    R"({"axis": "scale", "part": "train", "prompt": "It is", "positive": [" big"], "negative": [" tiny"]})"
    "\n";

TEST(SteeringPrompts, PublishedAreOneTextWithABlankAgainstBad) {
  const std::vector<SteeringPrompt> all = published_prompts();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].axis, 0U);
  EXPECT_FALSE(all[0].heldout);
  EXPECT_EQ(all[0].prompt, "The movie was");
  EXPECT_EQ(all[0].positive, Words{" "});
  EXPECT_EQ(all[0].negative, Words{" bad"});
}

TEST(SteeringPrompts, AreReadInTheOrderOfTheLinesUnderTheNumbersOfTheirAxes) {
  const auto all =
      read(kScale + "\n" + kMood +
           R"({"negative": [" sad", " grim"], "positive": [" fun", " nice"], "prompt": "Café",)"
           R"( "part": "heldout", "axis": "mood"})");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].axis, 1U);
  EXPECT_EQ(all[0].positive, Words{" big"});
  EXPECT_EQ(all[1].axis, 0U);
  EXPECT_FALSE(all[1].heldout);
  EXPECT_EQ(all[2].axis, 0U);
  EXPECT_TRUE(all[2].heldout);
  EXPECT_EQ(all[2].prompt, "Café");
  EXPECT_EQ(all[2].positive, (Words{" fun", " nice"}));
  EXPECT_EQ(all[2].negative, (Words{" sad", " grim"}));
}

TEST(SteeringPrompts, OfOtherAxesArePassedOverOnlyWhereTheyAreAllowed) {
  const std::string other =
      R"({"axis": "tone", "part": "train", "prompt": "A", "positive": ["b"], "negative": ["c"]})";

  EXPECT_EQ(read(kMood + kScale + other, true).size(), 2U);
  const std::string said = refusal(kMood + kScale + other);
  EXPECT_TRUE(tells(said, "prompts.jsonl:3: axis")) << said;
  EXPECT_TRUE(tells(said, "'tone'")) << said;
  EXPECT_TRUE(tells(said, "mood, scale")) << said;
}

struct WrongPrompt {
  std::string line;
  Words told;  // place and value
};

TEST(SteeringPrompts, EachMistakeIsToldWithItsLineAndValue) {
  const auto line = [](const std::string& rest) { return R"({"axis": "mood", )" + rest + "}"; };
  const std::string sets = R"("positive": [" fun"], "negative": [" sad"])";
  const std::vector<WrongPrompt> all = {
      {R"({"part": "train", "prompt": "A", )" + sets + "}", {"'axis'"}},
      {R"({"axis": 7, "part": "train", "prompt": "A", )" + sets + "}", {"axis", "7"}},
      {line(R"("prompt": "A", )" + sets), {"'part'"}},
      {line(R"("part": "test", "prompt": "A", )" + sets), {"part", "'test'", "train, heldout"}},
      {line(R"("part": "train", )" + sets), {"'prompt'"}},
      {line(R"("part": "train", "prompt": "", )" + sets), {"prompt", "\"\""}},
      {line(R"("part": "train", "prompt": ["A"], )" + sets), {"prompt", R"(["A"])"}},
      {line(R"("part": "train", "prompt": "A", "note": 1, )" + sets), {"'note'"}},
      {line(R"("part": "train", "prompt": "A", "negative": ["b"])"), {"'positive'"}},
      {line(R"("part": "train", "prompt": "A", "positive": ["b"])"), {"'negative'"}},
      {line(R"("part": "train", "prompt": "A", "positive": [], "negative": ["b"])"),
       {"positive", "[]"}},
      {line(R"("part": "train", "prompt": "A", "positive": "b", "negative": ["c"])"),
       {"positive", "\"b\""}},
      {line(R"("part": "train", "prompt": "A", "positive": ["b", 4], "negative": ["c"])"),
       {"positive[1]", "4"}},
      {line(R"("part": "train", "prompt": "A", "positive": ["b"], "negative": ["c", ""])"),
       {"negative[1]", "\"\""}},
      {line(R"("part": "train", "prompt": "A", "positive": ["b", "d", "b"], "negative": ["c"])"),
       {"positive[2]", "\"b\""}},
      {line(R"("part": "train", "prompt": "A", "positive": ["b"], "negative": ["c", "b"])"),
       {"\"b\""}},
      {line(R"("part": "heldout", "prompt": "It is", )" + sets),
       {"\"It is\"", "'mood'", "prompts.jsonl:1"}},
      {"[1]", {"[1]"}},
      {"no JSON", {}},
  };
  for (const WrongPrompt& wrong : all) {
    const std::string said = refusal(kMood + wrong.line + "\n" + kScale);
    EXPECT_TRUE(tells(said, "prompts.jsonl:2: ")) << wrong.line << "\n" << said;
    EXPECT_TRUE(tells(said, "1 mistake:")) << wrong.line << "\n" << said;
    for (const std::string& part : wrong.told) {
      EXPECT_TRUE(tells(said, part)) << part << "\n" << said;
    }
  }
}

TEST(SteeringPrompts, TheSameTextMayServeTwoAxesAndStandTwiceInOnePart) {
  const std::string held =
      R"({"axis": "scale", "part": "heldout", "prompt": "It was", "positive": ["a"], "negative": ["b"]})"
      "\n";
  EXPECT_EQ(read(kMood + kMood + kScale + held + held).size(), 5U);
}

TEST(SteeringPrompts, AllMistakesAreToldAtOnceWithAxesThatHaveNothingToTrainOn) {
  const std::string held =
      R"({"axis": "scale", "part": "heldout", "prompt": "A", "positive": ["b"], "negative": ["c"]})"
      "\n";
  const std::string said = refusal(held + "{}\n" + kMood);
  EXPECT_TRUE(tells(said, "6 mistakes:")) << said;  // five members of line 2, and the axis
  EXPECT_TRUE(tells(said, "prompts.jsonl:2: ")) << said;
  EXPECT_TRUE(tells(said, "'scale'")) << said;
  EXPECT_FALSE(tells(said, "'mood'")) << said;
}

TEST(SteeringPrompts, AnAxisWhoseOnlyTrainPromptIsWrongIsNotToldAsUntrainedToo) {
  const std::string said = refusal(
      kMood +
      R"({"axis": "scale", "part": "train", "prompt": "", "positive": ["b"], "negative": ["c"]})");
  EXPECT_TRUE(tells(said, "1 mistake:")) << said;
}

TEST(SteeringPrompts, OfAFileAreThoseOfItsText) {
  const test::TemporaryFolder folder;
  const auto code_for = [&](const std::filesystem::path& file) {
    return code_of([&] { read_steering_file(file, kNames); });
  };

  EXPECT_EQ(read_steering_file(folder.write("good.jsonl", "\xEF\xBB\xBF" + kMood + kScale), kNames)
                .size(),
            2U);
  EXPECT_EQ(code_for(folder.path() / "absent.jsonl"), ExitCode::NoInput);
  EXPECT_EQ(code_for(folder.write("wrong.jsonl", "{}\n")), ExitCode::BadData);
  EXPECT_EQ(code_for(folder.write("blank.jsonl", " \n")), ExitCode::BadData);
  EXPECT_EQ(code_for(folder.write("packed.jsonl", "\x1f\x8b rest")), ExitCode::BadData);
}

TEST(SteeringPrompts, BuiltInAreAtLeastFiftyToTrainOnAndFiftyHeldOutForEachAxis) {
  const auto all = builtin_prompts({"scale", "sentiment"});
  std::map<std::pair<std::size_t, bool>, int> count;
  for (const SteeringPrompt& one : all) {
    ++count[{one.axis, one.heldout}];
    EXPECT_GE(one.positive.size(), 5U) << one.prompt;
    EXPECT_GE(one.negative.size(), 5U) << one.prompt;
  }
  for (const std::size_t axis : {0U, 1U}) {
    EXPECT_GE((count[{axis, false}]), 50) << axis;
    EXPECT_GE((count[{axis, true}]), 50) << axis;
  }
  const auto of_film = std::ranges::find(all, "The movie was", &SteeringPrompt::prompt);
  ASSERT_NE(of_film, all.end());
  EXPECT_EQ(of_film->axis, 1U) << "axes are numbered as they are named";
}

TEST(SteeringPrompts, BuiltInOfSomeAxesLeaveOutTheOthersAndUnknownAxesAreRefused) {
  EXPECT_LT(builtin_prompts({"sentiment"}).size(), builtin_prompts({"sentiment", "scale"}).size());

  const auto ask = [] { builtin_prompts({"sentiment", "colour", "tone"}); };
  EXPECT_EQ(code_of(ask), ExitCode::Usage);
  const std::string said = test::message_of<UserError>(ask);
  EXPECT_TRUE(tells(said, "'colour', 'tone'")) << said;
  EXPECT_TRUE(tells(said, "sentiment, scale")) << said;
}

std::unique_ptr<Tokenizer> made(const std::string& kind, const Words& vocabulary = {}) {
  return make_tokenizer({.kind = kind,
                         .word_vocab_size = std::ssize(vocabulary) + 1,
                         .folder = {},
                         .vocabulary = vocabulary},
                        "");
}

/// Knows good (1), bad (2), it (3), was (4), is (5) and nothing else.
std::unique_ptr<Tokenizer> of_words() {
  return made("word", {"good", "bad", "it", "was", "is"});
}

std::string tokens_refused(const std::vector<SteeringPrompt>& prompts, const Tokenizer& tokenizer,
                           bool whole_set = true) {
  const auto call = [&] { steering_tokens(prompts, tokenizer, whole_set); };
  EXPECT_EQ(code_of(call), ExitCode::BadData);
  return test::message_of<UserError>(call);
}

TEST(SteeringTokens, AreThoseOfPromptAndWords) {
  const std::vector<SteeringPrompt> prompts = {{0, false, "it was", {" good"}, {" bad"}},
                                               {1, true, "so it is", {" bad", " it"}, {" good"}}};

  const auto all = steering_tokens(prompts, *of_words(), true);

  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].prompt, (Ids{3, 4}));
  EXPECT_EQ(all[0].positive, Ids{1});
  EXPECT_EQ(all[0].negative, Ids{2});
  EXPECT_FALSE(all[0].heldout);
  EXPECT_EQ(all[1].axis, 1U);
  EXPECT_TRUE(all[1].heldout);
  EXPECT_EQ(all[1].prompt, (Ids{0, 3, 5})) << "unknown words are in the training text too";
  EXPECT_EQ(all[1].positive, (Ids{2, 3}));
  EXPECT_EQ(longest_prompt(all), 3);
  EXPECT_EQ(longest_prompt({}), 0);
}

TEST(SteeringTokens, OfOneTokenAreTheFirstWordsAndTheOthersAreNotAskedFor) {
  const std::vector<SteeringPrompt> prompts = {
      {0, false, "it", {" good", " splendid"}, {" bad", " the worst"}}};

  const auto all = steering_tokens(prompts, *of_words(), false);

  EXPECT_EQ(all.at(0).positive, Ids{1});
  EXPECT_EQ(all.at(0).negative, Ids{2});
  const std::string said = tokens_refused(prompts, *of_words());
  EXPECT_TRUE(tells(said, "2 mistakes:")) << said;
  EXPECT_TRUE(tells(said, "\" splendid\"")) << said;
  EXPECT_TRUE(tells(said, "\" the worst\"")) << said;
}

TEST(SteeringTokens, AWordIsToldOnceHoweverManyPromptsHaveIt) {
  std::vector<SteeringPrompt> prompts;
  for (int i = 0; i < 9; ++i) prompts.push_back({0, false, "it", {" splendid"}, {" bad"}});

  const std::string said = tokens_refused(prompts, *of_words());

  EXPECT_TRUE(tells(said, "1 mistake:")) << said;
  EXPECT_TRUE(tells(said, "gpt2")) << said;
}

TEST(SteeringTokens, WordsOfOneSetOrBothAreDifferentTokens) {
  EXPECT_TRUE(tells(tokens_refused({{0, false, "it", {" good", "good"}, {"bad"}}}, *of_words()),
                    "\"good\""));
  EXPECT_TRUE(tells(tokens_refused({{0, false, "it", {" good"}, {"bad", "good"}}}, *of_words()),
                    "\"good\""));
}

TEST(SteeringTokens, APromptHasATokenAndIsNotHeldOutUnderAnotherSpelling) {
  const std::string said = tokens_refused({{0, false, " ", {"good"}, {"bad"}},
                                           {0, false, "it was", {"good"}, {"bad"}},
                                           {0, true, "it  was ", {"good"}, {"bad"}},
                                           {1, true, "it  was", {"good"}, {"bad"}}},
                                          *of_words());
  EXPECT_TRUE(tells(said, "2 mistakes:")) << said;
  EXPECT_TRUE(tells(said, "\" \"")) << said;
  EXPECT_TRUE(tells(said, "\"it was\"")) << said;
}

TEST(SteeringTokens, OfCharactersAreSingleCharactersThatTheTokenizerTellsApart) {
  const auto bytes = made("byte");
  EXPECT_EQ(steering_tokens({{0, false, "ab", {" "}, {"c"}}}, *bytes, true).at(0).positive,
            Ids{32});
  EXPECT_TRUE(tells(tokens_refused(published_prompts(), *bytes), "4 tokens"));

  const auto clamped = made("char256");
  const std::string said = tokens_refused({{0, false, "ab", {"€"}, {"c"}}}, *clamped);
  EXPECT_TRUE(tells(said, "\"€\"")) << said;
  EXPECT_TRUE(tells(said, "\"ÿ\"")) << said;
}

}  // namespace steering_prompts_test
}  // namespace depthgrid
