// Where labels come from: the user's labels of documents, scores of sentences and a program that
// gives them; which parts of a text they reach, and what becomes of their numbers.
#include "core/data/labels/label_source.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/config/cell_config.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace label_source_test {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

constexpr double kNone = 99;  // in place of NaN, so that lists can be compared

Numbers shown(const Numbers& scores) {
  Numbers out = scores;
  for (double& score : out) score = std::isnan(score) ? kNone : score;
  return out;
}

Texts parts_of(std::string_view text, const ScoredText& scored) {
  Texts out;
  for (const TextSegment& part : scored.parts) out.emplace_back(text_of(text, part));
  return out;
}

/// What a source says of texts that are used as they are.
struct Said {
  std::vector<ScoredText> texts;
  std::vector<std::string> warnings;
};

Said said_of(const LabelSource& source, const std::vector<std::string_view>& texts) {
  std::vector<UsedText> used;
  for (const std::string_view text : texts) used.push_back({text, text});
  Said out;
  out.texts = source.scored(used, out.warnings);
  return out;
}

ScoredText beginning(const LabelSource& source, std::string_view text, std::size_t size) {
  const UsedText used{text.substr(0, size), text};
  std::vector<std::string> warnings;
  return source.scored(std::span(&used, 1), warnings).at(0);
}

bool tells(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

RankTable table_of(const Numbers& scores) {
  return RankTable(std::span<const double>(scores));
}

/// Three documents, of which the second has labels of parts.
const std::string kDocuments =
    R"({"text": "The first one is here . It has two sentences .", "u": {"formality": 0.5}})"
    "\n"
    R"({"text": "Last words of all .", "spans": [{"begin": 5, "end": 10, "u": {"toxicity": -1}},)"
    R"( {"begin": 10, "end": 13, "u": {"toxicity": 1, "formality": -0.25}}]})"
    "\n"
    R"({"text": "Elsewhere .", "u": {"formality": 1}})"
    "\n";
constexpr std::string_view kText =
    "= A heading =\nThe first one is here . It has two sentences .\nNothing is known of this .\n"
    "Last words of all .\n";
constexpr std::string_view kOther = "Elsewhere .\n";
const Texts kNames = {"formality", "toxicity"};

class DocumentLabels : public ::testing::Test {
 protected:
  std::unique_ptr<LabelSource> source(bool sentences) const {
    return label_source({.names = kNames, .source = "file", .file = file_, .sentences = sentences},
                        {});
  }

 private:
  test::TemporaryFolder folder_;
  fs::path file_ = folder_.write("labels.jsonl", kDocuments);
};

TEST_F(DocumentLabels, CoverTheirSpansAndNothingElse) {
  const Said said = said_of(*source(false), {kText, kOther});
  ASSERT_EQ(said.texts.size(), 2U);
  EXPECT_EQ(parts_of(kText, said.texts[0]),
            (Texts{"= A heading =\n", "The first one is here . It has two sentences .",
                   "\nNothing is known of this .\nLast ", "words", " of", " all .\n"}));
  EXPECT_EQ(shown(said.texts[0].scores), (Numbers{kNone, kNone, .5, kNone, kNone, kNone,  //
                                                  kNone, -1, -.25, 1, kNone, kNone}));
  EXPECT_EQ(parts_of(kOther, said.texts[1]), (Texts{"Elsewhere .", "\n"}));
  EXPECT_EQ(shown(said.texts[1].scores), (Numbers{1, kNone, kNone, kNone}));
  EXPECT_TRUE(said.warnings.empty());
}

TEST_F(DocumentLabels, AreThoseOfTheSentencesInThem) {
  const Said said = said_of(*source(true), {kText, kOther});
  EXPECT_EQ(parts_of(kText, said.texts[0]),
            (Texts{"= A heading =\n", "The first one is here . ", "It has two sentences .", "\n",
                   "Nothing is known of this .\n", "Last ", "words", " of", " all .\n"}));
  EXPECT_EQ(shown(said.texts[0].scores),
            (Numbers{kNone, kNone, .5, kNone, .5, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                     kNone, -1, -.25, 1, kNone, kNone}));
}

TEST_F(DocumentLabels, EndWhereTheUsedTextDoes) {
  const std::size_t inside = kText.find("It has"), before = kText.find("The first");
  for (const bool sentences : {false, true}) {
    const auto labels = source(sentences);
    const ScoredText cut = beginning(*labels, kText, inside + 3);
    Texts parts = {"= A heading =\n", "The first one is here . It "};
    if (sentences) parts = {"= A heading =\n", "The first one is here . ", "It "};
    EXPECT_EQ(parts_of(kText, cut), parts);
    Numbers scores = {kNone, kNone, .5, kNone};
    if (sentences) scores.insert(scores.end(), {.5, kNone});
    EXPECT_EQ(shown(cut.scores), scores);
    const ScoredText none = beginning(*labels, kText, before);
    EXPECT_EQ(parts_of(kText, none), Texts{"= A heading =\n"}) << "its end is where a span begins";
    EXPECT_EQ(shown(none.scores), (Numbers{kNone, kNone}));
    EXPECT_TRUE(beginning(*labels, kText, 0).parts.empty());
  }
}

TEST_F(DocumentLabels, ThatAreNowhereInTheCorpusAreCounted) {
  const auto labels = source(true);
  const Said one = said_of(*labels, {kText});
  ASSERT_EQ(one.warnings.size(), 1U);
  for (const char* part : {"1 of 3", "labels.jsonl", "Elsewhere", "train.control.labels.file"}) {
    EXPECT_TRUE(tells(one.warnings[0], part)) << one.warnings[0];
  }
  const Said two = said_of(*labels, {kOther, kOther});
  ASSERT_EQ(two.warnings.size(), 1U);
  EXPECT_TRUE(tells(two.warnings[0], "2 of 3")) << two.warnings[0];
  EXPECT_TRUE(tells(two.warnings[0], "The first one")) << two.warnings[0];
  // What is not used is in the corpus none the less.
  const std::vector<UsedText> used = {{kText.substr(0, 14), kText}, {kOther, kOther}};
  std::vector<std::string> warnings;
  EXPECT_EQ(labels->scored(used, warnings).size(), 2U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DocumentLabels, AreTheSignalAsTheyAreAndPositiveAboveZero) {
  const auto labels = source(true);
  const Attribute binary = labels->fitted(1, table_of({-1, 1, 1}));
  EXPECT_EQ(binary.name, "toxicity");
  EXPECT_EQ(binary.kind, AttributeKind::Binary);
  EXPECT_EQ(binary.threshold, 0);
  const Attribute ordinal = labels->fitted(0, table_of({.25, .5, 1}));
  EXPECT_EQ(ordinal.name, "formality");
  EXPECT_EQ(ordinal.kind, AttributeKind::Ordinal);
  EXPECT_EQ(ordinal.threshold, 0) << "not the median";
  EXPECT_EQ(labels->map_of(AttributeKind::Ordinal), LabelMap::AsItIs);
  EXPECT_EQ(labels->map_of(AttributeKind::Binary), LabelMap::AsItIs);
  EXPECT_EQ(label_value(ordinal, LabelMap::AsItIs, -.25), -.25);
}

/// A line of a file of scores. @param segment  byte for byte.
std::string score_line(std::string_view segment, const std::string& scores) {
  return "{\"sha256\": \"" + hex(sha256(segment)) + "\", \"scores\": " + scores + "}\n";
}

TEST(SentenceScores, GoToTheirSentencesAndOnlyThoseThatRulesWouldLabelAreMissed) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write(
      "scores.jsonl",
      score_line("The first one is here . ", R"({"formality": 12})") +
          score_line("It has two sentences .\n", R"({"toxicity": 0.25, "formality": 3})"));
  const auto source = label_source({.names = kNames, .source = "scores", .file = file}, {});
  constexpr std::string_view kShort = "Too short .\n";
  constexpr std::string_view kScored = "The first one is here . It has two sentences .\n";
  const std::string all = "= A heading of many words =\n" + std::string(kScored);
  const Said whole = said_of(*source, {all, kShort});
  EXPECT_EQ(parts_of(all, whole.texts.at(0)),
            (Texts{"= A heading of many words =\n", "The first one is here . ",
                   "It has two sentences .\n"}));
  EXPECT_EQ(shown(whole.texts[0].scores), (Numbers{kNone, kNone, 12, kNone, 3, .25}));
  EXPECT_EQ(shown(whole.texts.at(1).scores), (Numbers{kNone, kNone}));
  EXPECT_TRUE(whole.warnings.empty()) << "a heading and a few words need no score";

  const std::string more = std::string(kScored) + "Of this one nothing is known .\n";
  const Said lacking = said_of(*source, {more, "Nor is of this one .\n"});
  EXPECT_EQ(shown(lacking.texts.at(0).scores), (Numbers{12, kNone, 3, .25, kNone, kNone}));
  ASSERT_EQ(lacking.warnings.size(), 1U);
  for (const char* part : {"2 of 4", "scores.jsonl", "train.control.labels.scores"}) {
    EXPECT_TRUE(tells(lacking.warnings[0], part)) << lacking.warnings[0];
  }
}

TEST(SentenceScores, OfTwoValuesAreBinaryAndOthersAreSplitAtTheirMedian) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.write("scores.jsonl", score_line("One . ", R"({"formality": 1})"));
  LabelOptions by{.names = kNames, .source = "scores", .file = file};
  const auto source = label_source(by, {});
  const Attribute two = source->fitted(0, table_of({2, 6, 6, 6}));
  EXPECT_EQ(two.kind, AttributeKind::Binary);
  EXPECT_EQ(two.threshold, 4) << "the middle of both, not their median";
  const Attribute three = source->fitted(1, table_of({1, 2, 8}));
  EXPECT_EQ(three.name, "toxicity");
  EXPECT_EQ(three.kind, AttributeKind::Ordinal);
  EXPECT_EQ(three.threshold, 2);
  EXPECT_EQ(three.ranks, table_of({1, 2, 8}));
  EXPECT_EQ(source->fitted(0, table_of({1, 2, 4, 8})).threshold, 3);
  EXPECT_TRUE(std::isnan(source->fitted(0, RankTable()).threshold));
  EXPECT_EQ(source->map_of(AttributeKind::Ordinal), LabelMap::Rank);
  EXPECT_EQ(source->map_of(AttributeKind::Binary), LabelMap::Sign);
  by.map = LabelMap::Probability;
  const auto probable = label_source(by, {});
  EXPECT_EQ(probable->fitted(0, table_of({.5, 1, 1})).threshold, .5);
  EXPECT_EQ(probable->fitted(0, table_of({.1, .2, .9})).threshold, .5);
  by.file = folder.write("outside.jsonl", score_line("One . ", R"({"formality": 1.5})"));
  EXPECT_THROW(label_source(by, {}), UserError) << "no probability";
}

/// A program that scores a text by the first number in it, and keeps what it is asked.
class Counter {
 public:
  explicit Counter(const std::string& end = {}) {
    const std::string script =
        "echo call >>" + (folder_.path() / "calls").string() + "; tee -a " +
        (folder_.path() / "asked").string() +
        R"( | sed 's/^{"id":\([0-9]*\),"text":"[^0-9]*\([0-9]*\).*"}$/{"id":\1,"scores":{"a":\2}}/')" +
        end;
    by_.command = {"sh", folder_.write("script", script).string()};
  }

  std::unique_ptr<LabelSource> source() const {
    return label_source(by_, {.cache = folder_.path() / "cache"});
  }
  std::int64_t calls() const { return lines_of("calls"); }
  std::int64_t asked() const { return lines_of("asked"); }

 private:
  std::int64_t lines_of(const char* name) const {
    std::ifstream in(folder_.path() / name);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  }

  test::TemporaryFolder folder_;
  LabelOptions by_{.names = {"a"}, .source = "command", .timeout_s = 300};
};

TEST(ScoringProgram, IsAskedOnceForTheSentencesOfAllTexts) {
  const Counter counter;
  constexpr std::string_view kTrain =
      "= Heading number 9 of all =\nThere were 3 cats here . Short 7 .\nThere were 4 dogs here .\n";
  constexpr std::string_view kValid = "There were 5 birds here .\nThere were 4 dogs here .\n";
  const Said said = said_of(*counter.source(), {kTrain, "", kValid});
  ASSERT_EQ(said.texts.size(), 3U);
  EXPECT_EQ(parts_of(kTrain, said.texts[0]),
            (Texts{"= Heading number 9 of all =\n", "There were 3 cats here . ", "Short 7 .\n",
                   "There were 4 dogs here .\n"}));
  EXPECT_EQ(shown(said.texts[0].scores), (Numbers{kNone, 3, kNone, 4}));
  EXPECT_TRUE(said.texts[1].parts.empty());
  EXPECT_EQ(shown(said.texts[2].scores), (Numbers{5, 4}));
  EXPECT_TRUE(said.warnings.empty());
  EXPECT_EQ(counter.calls(), 1);
  EXPECT_EQ(counter.asked(), 3) << "neither the heading nor a few words, and the same once";
  EXPECT_EQ(shown(said_of(*counter.source(), {kValid}).texts.at(0).scores), (Numbers{5, 4}));
  EXPECT_EQ(counter.calls(), 1) << "the answers are kept";
}

TEST(ScoringProgram, ThatFailsIsAnErrorOfItsLeaf) {
  const Counter counter("; exit 37");
  const auto source = counter.source();
  const std::string said =
      test::message_of<UserError>([&] { said_of(*source, {"There were 3 cats here .\n"}); });
  EXPECT_TRUE(tells(said, "train.control.labels.command")) << said;
  EXPECT_TRUE(tells(said, "37")) << said;
}

TEST(ScoringProgram, IsNotStartedForATextWithoutSentences) {
  const Counter counter("; exit 37");
  EXPECT_EQ(shown(said_of(*counter.source(), {"= Heading =\n\n"}).texts.at(0).scores),
            (Numbers{kNone, kNone}));
  EXPECT_EQ(counter.calls(), 0);
}

TEST(LabelSource, OfRulesRefusesNamesThatNoRuleHas) {
  EXPECT_THROW(label_source({.names = {"long", "kindness"}}, {}), UserError);
  const auto rules = label_source({.names = {"long", "passive"}}, {});
  EXPECT_EQ(rules->fitted(0, table_of({1, 2, 9})).threshold, 2);
  EXPECT_EQ(rules->map_of(AttributeKind::Ordinal), LabelMap::Rank);
  EXPECT_EQ(labelled_segments("= A heading of many words =\nShort .\nFive words are enough .\n",
                              Terminator::Spaced),
            1);
}

TEST(LabelSource, IsWhatTheLeavesSay) {
  const LabelOptions rules = label_options(CellConfig());
  EXPECT_EQ(rules.source, "rules");
  EXPECT_TRUE(rules.sentences);
  EXPECT_FALSE(rules.map.has_value());
  const auto read = [](const std::string& leaves) {
    return label_options(config_from_json(R"({"train.task":"control",)" + leaves + "}"));
  };
  const LabelOptions file =
      read(R"("model.control.names":["b","a"],"train.control.labels.source":"file",)"
           R"("train.control.labels.file":"own.jsonl","train.control.labels.span":"document")");
  EXPECT_EQ(file.names, (Texts{"b", "a"}));
  EXPECT_EQ(file.source, "file");
  EXPECT_EQ(file.file, "own.jsonl");
  EXPECT_FALSE(file.sentences);
  const LabelOptions scores =
      read(R"("model.control.names":"a","train.control.labels.source":"scores",)"
           R"("train.control.labels.scores":"all.jsonl","train.control.labels.span":"window",)"
           R"("train.control.labels.map":"probability","train.control.labels.terminator":"raw")");
  EXPECT_EQ(scores.names, Texts{"a"});
  EXPECT_EQ(scores.file, "all.jsonl");
  EXPECT_TRUE(scores.sentences) << "of which a window has the mean";
  EXPECT_EQ(scores.map, LabelMap::Probability);
  EXPECT_EQ(scores.terminator, Terminator::Raw);
  const LabelOptions command = read(
      R"("model.control.names":"a","train.control.labels.source":"command",)"
      R"("train.control.labels.command":["python3","own.py"],"train.control.labels.timeout":7)");
  EXPECT_EQ(command.command, (Texts{"python3", "own.py"}));
  EXPECT_EQ(command.timeout_s, 7);
  EXPECT_TRUE(command.file.empty());
}

}  // namespace label_source_test
}  // namespace depthgrid
