#include "core/data/labels/score_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace score_file_test {

const std::vector<std::string> kNames = {"formality", "toxicity"};

std::string line_of(const std::string& digest, const std::string& scores) {
  return "{\"sha256\": \"" + digest + "\", \"scores\": " + scores + "}\n";
}

std::string digest_of(const std::string& text) {
  return hex(sha256(text));
}

SegmentScores read(const std::string& lines, bool probability = false) {
  const test::TemporaryFolder folder;
  return read_score_file(folder.write("scores.jsonl", lines), kNames, probability);
}

std::string refusal(const std::string& lines, bool probability = false) {
  return test::message_of<UserError>([&] { read(lines, probability); });
}

bool tells(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST(ScoreFile, ScoresGoToTheSegmentsWithTheirBytes) {
  const std::string lines = line_of(digest_of("One. "), R"({"formality": 12.5, "toxicity": -3})") +
                            line_of(digest_of("Two. "), R"({"toxicity": 0.125})");
  const SegmentScores scores = read(lines);
  EXPECT_EQ(scores.sha256, hex(sha256(lines)));
  EXPECT_EQ(scores.by_digest.size(), 2U);
  const std::array<std::string_view, 4> segments = {"Two. ", "Three. ", "One. ", "Two. "};
  const ScoredSegments found = scores_of(scores, segments);
  ASSERT_EQ(found.scores.size(), 8U);
  EXPECT_TRUE(std::isnan(found.scores[0]));
  EXPECT_EQ(found.scores[1], 0.125);
  EXPECT_TRUE(std::isnan(found.scores[2]));
  EXPECT_TRUE(std::isnan(found.scores[3]));
  EXPECT_EQ(found.scores[4], 12.5);
  EXPECT_EQ(found.scores[5], -3.0);
  EXPECT_TRUE(std::isnan(found.scores[6]));
  EXPECT_EQ(found.scores[7], 0.125);
  EXPECT_EQ(found.missing, 1);
}

TEST(ScoreFile, AFileOfAnotherTextMissesAllSegments) {
  const SegmentScores scores = read(line_of(digest_of("One. "), R"({"formality": 1})"));
  const std::array<std::string_view, 2> segments = {"One.", "one. "};
  EXPECT_EQ(scores_of(scores, segments).missing, 2);
}

TEST(ScoreFile, ASegmentMayStandTwiceWithTheSameScores) {
  std::string large = digest_of("a");
  std::ranges::transform(large, large.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string lines =
      line_of(digest_of("a"), R"({"formality": 1})") + line_of(large, R"({"formality": 1.0})");
  EXPECT_EQ(read(lines).by_digest.size(), 1U);
  const std::string said = refusal(lines + line_of(digest_of("a"), R"({"formality": 2})"));
  EXPECT_TRUE(tells(said, "scores.jsonl:3: ")) << said;
  EXPECT_TRUE(tells(said, "scores.jsonl:1")) << said;
  EXPECT_TRUE(tells(said, digest_of("a"))) << said;
  EXPECT_TRUE(
      tells(refusal(lines + line_of(digest_of("a"), R"({"toxicity": 1})")), "scores.jsonl:3: "));
}

struct WrongLine {
  std::string line;
  std::vector<std::string> told;
};

TEST(ScoreFile, EachMistakeIsToldWithItsLineAndValue) {
  const std::string good = line_of(digest_of("good"), R"({"formality": 1})");
  const std::string other = digest_of("other");
  const std::vector<WrongLine> all = {
      {line_of("12ab", "{}"), {"sha256", "12ab"}},
      {line_of(other.substr(1) + "g", "{}"), {"sha256"}},
      {"{\"sha256\": 5, \"scores\": {}}\n", {"sha256", "5"}},
      {"{\"scores\": {}}\n", {"'sha256'"}},
      {"{\"sha256\": \"" + other + "\"}\n", {"'scores'"}},
      {"{\"sha256\": \"" + other + "\", \"scores\": {}, \"text\": \"a\"}\n", {"'text'"}},
      {line_of(other, R"({"humour": 1})"), {"'humour'", "formality, toxicity"}},
      {line_of(other, R"({"formality": "NaN"})"), {"scores.formality", "\"NaN\""}},
      {line_of(other, R"({"formality": null})"), {"scores.formality", "null"}},
      {line_of(other, R"({"formality": Infinity})"), {"Infinity"}},
      {line_of(other, R"({"formality": -1e400})"), {"-1e400"}},
      {line_of(other, R"({"formality": 1, "formality": 1})"), {"'formality'"}},
      {line_of(other, "0.5"), {"scores", "0.5"}},
      {"scores\n", {"scores"}},
  };
  for (const WrongLine& wrong : all) {
    const std::string said = refusal(good + wrong.line + good);
    EXPECT_TRUE(tells(said, "scores.jsonl:2: ")) << wrong.line << said;
    EXPECT_FALSE(tells(said, "scores.jsonl:3: ")) << said;
    for (const std::string& part : wrong.told) {
      EXPECT_TRUE(tells(said, part)) << part << "\n" << said;
    }
  }
}

TEST(ScoreFile, ProbabilitiesAreFromZeroToOne) {
  const std::string lines = line_of(digest_of("a"), R"({"formality": 0, "toxicity": 1})") +
                            line_of(digest_of("b"), R"({"formality": 1.001, "toxicity": -0.5})");
  EXPECT_EQ(read(lines).by_digest.size(), 2U);
  const std::string said = refusal(lines, true);
  EXPECT_TRUE(tells(said, "scores.jsonl:2: ")) << said;
  EXPECT_TRUE(tells(said, "1.001")) << said;
  EXPECT_TRUE(tells(said, "-0.5")) << said;
  EXPECT_FALSE(tells(said, "scores.jsonl:1: ")) << said;
}

}  // namespace score_file_test
}  // namespace depthgrid
