#include "core/data/labels/score_command.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace score_command_test {

namespace fs = std::filesystem;

/// Texts "t10", "t11", …: the classifier below scores "t12" by 0.12.
class Texts {
 public:
  explicit Texts(int count, int first = 10, const std::string& rest = {}) {
    for (int i = 0; i < count; ++i) own_.push_back("t" + std::to_string(first + i) + rest);
    views_.assign(own_.begin(), own_.end());
  }
  std::span<const std::string_view> views() const { return views_; }

 private:
  std::vector<std::string> own_;
  std::vector<std::string_view> views_;
};

const std::string kGood =
    R"(sed 's/^{"id":\([0-9]*\),"text":"t\([0-9]*\).*"}$/{"id":\1,"scores":{"a":0.\2}}/')";

ScoreCommand shell(const std::string& script) {
  ScoreCommand out;
  out.argv = {"sh", "-c", script};
  out.names = {"a"};
  out.timeout_s = 300;
  return out;
}

/// The same from a file, so that no message quotes the script.
ScoreCommand script_in(const test::TemporaryFolder& folder, const std::string& script) {
  ScoreCommand out = shell("");
  out.argv = {"sh", folder.write("script", script).string()};
  return out;
}

/// A script that reads everything and then says these lines.
std::string says(const std::vector<std::string>& lines) {
  std::string out = "cat >/dev/null";
  for (const std::string& line : lines) out += "; printf '%s\\n' '" + line + "'";
  return out;
}

struct Refusal {
  ExitCode code = ExitCode::Done;
  std::string said;

  bool tells(const std::string& part) const { return said.find(part) != std::string::npos; }
};

Refusal refusal(const ScoreCommand& command, std::span<const std::string_view> texts) {
  try {
    run_score_command(command, texts);
  } catch (const UserError& error) {
    return {error.code(), error.what()};
  }
  return {};
}

std::int64_t calls_in(const fs::path& file) {
  std::ifstream in(file);
  return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) out.push_back(entry.path());
  return out;
}

TEST(ScoreCommand, ScoresComeInTheOrderOfTheTexts) {
  const Texts texts(5);
  const CommandScores scores = run_score_command(shell(kGood), texts.views());
  EXPECT_EQ(scores.scores, (std::vector<double>{0.10, 0.11, 0.12, 0.13, 0.14}));
  EXPECT_EQ(scores.asked, 5);
  EXPECT_EQ(scores.cached, 0);
  EXPECT_EQ(run_score_command(shell(kGood + " | sort -r"), texts.views()).scores, scores.scores);
}

TEST(ScoreCommand, NamesComeInTheirOrderAndAnyFiniteNumberIsAScore) {
  ScoreCommand command = shell(says({R"({"scores": {"b": -3.5, "a": 1e6}, "id": 1})", "",
                                     R"({"id": 0, "scores": {"a": 0, "b": 7}})"}));
  command.names = {"b", "a"};
  EXPECT_EQ(run_score_command(command, Texts(2).views()).scores,
            (std::vector<double>{7, 0, -3.5, 1e6}));
}

TEST(ScoreCommand, EqualTextsAreAskedOnce) {
  const std::vector<std::string_view> texts = {"t20", "t10", "t20", "t20"};
  const CommandScores scores = run_score_command(shell(kGood), texts);
  EXPECT_EQ(scores.asked, 2);
  EXPECT_EQ(scores.scores, (std::vector<double>{0.2, 0.1, 0.2, 0.2}));
}

TEST(ScoreCommand, TextsArriveAsTheyAreAndOnOneLineEach) {
  const test::TemporaryFolder folder;
  const fs::path copy = folder.path() / "copy";
  ScoreCommand command =
      shell("cat >" + copy.string() + R"(; echo '{"id": 0, "scores": {"a": 1}}')");
  const std::vector<std::string_view> texts = {"He said \"no\".\n\tCaf\u00e9 \xff"};
  run_score_command(command, texts);
  std::ifstream in(copy);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "{\"id\":0,\"text\":\"He said \\\"no\\\".\\n\\tCaf\u00e9 \uFFFD\"}\n");
}

TEST(ScoreCommand, WithoutTextsNothingIsStarted) {
  ScoreCommand command = shell("exit 1");
  EXPECT_TRUE(run_score_command(command, {}).scores.empty());
}

// Both directions are longer than a pipe, and the command speaks before it listens.
TEST(ScoreCommand, NeitherSideWaitsForTheOther) {
  const Texts texts(20000, 10, std::string(200, 'x'));
  const CommandScores slow = run_score_command(
      shell("awk 'BEGIN { for (i = 0; i < 20000; ++i) "
            "print \"{\\\"id\\\":\" i \",\\\"scores\\\":{\\\"a\\\":\" i \"}}\" }'; cat >/dev/null"),
      texts.views());
  ASSERT_EQ(slow.scores.size(), 20000U);
  EXPECT_EQ(slow.scores.front(), 0.0);
  EXPECT_EQ(slow.scores.back(), 19999.0);
  const CommandScores turned = run_score_command(shell(kGood), texts.views());
  ASSERT_EQ(turned.scores.size(), 20000U);
  EXPECT_EQ(turned.scores.front(), 0.1);
}

TEST(ScoreCommand, ACommandThatDoesNotReadMissesAllAnswers) {
  const Texts texts(20000, 10, std::string(200, 'x'));
  const Refusal refused = refusal(shell("exit 0"), texts.views());
  EXPECT_EQ(refused.code, ExitCode::BadData);
  EXPECT_TRUE(refused.tells("20000 of 20000")) << refused.said;
  EXPECT_TRUE(refused.tells("id 4 \"t14xxx")) << refused.said;
  EXPECT_FALSE(refused.tells("id 5 ")) << refused.said;
}

TEST(ScoreCommand, EachBadEndIsOneErrorWithItsReason) {
  const Texts texts(2);
  const test::TemporaryFolder folder;
  const Refusal crash =
      refusal(script_in(folder, "cat >/dev/null; echo first >&2; echo trouble-9 >&2; exit 37"),
              texts.views());
  EXPECT_EQ(crash.code, ExitCode::BadData);
  EXPECT_TRUE(crash.tells("37")) << crash.said;
  EXPECT_TRUE(crash.tells("first\n")) << crash.said;
  EXPECT_TRUE(crash.tells("trouble-9")) << crash.said;

  const Refusal killed = refusal(script_in(folder, "kill -TERM $$"), texts.views());
  EXPECT_EQ(killed.code, ExitCode::BadData);
  EXPECT_TRUE(killed.tells(strsignal(SIGTERM))) << killed.said;

  ScoreCommand absent = shell("");
  absent.argv = {"no-such-program-here", "--fast"};
  absent.leaf = "here.it.stands";
  const Refusal not_there = refusal(absent, texts.views());
  EXPECT_EQ(not_there.code, ExitCode::BadConfig);
  EXPECT_TRUE(not_there.tells("no-such-program-here --fast")) << not_there.said;
  EXPECT_TRUE(not_there.tells("here.it.stands: ")) << not_there.said;

  const Refusal talks = refusal(script_in(folder, "yes babble"), texts.views());
  EXPECT_EQ(talks.code, ExitCode::BadData);
  EXPECT_TRUE(talks.tells("babble")) << talks.said;
}

TEST(ScoreCommand, ACommandThatTakesTooLongOrIsStoppedIsEnded) {
  const Texts texts(2);
  const auto begin = std::chrono::steady_clock::now();
  ScoreCommand late = shell("sleep 600");
  late.timeout_s = 0.75;
  const Refusal refused = refusal(late, texts.views());
  EXPECT_EQ(refused.code, ExitCode::BadData);
  EXPECT_TRUE(refused.tells("0.75 s")) << refused.said;
  ScoreCommand stopped = shell("sleep 600");
  stopped.stop = [] { return true; };
  EXPECT_EQ(refusal(stopped, texts.views()).code, ExitCode::TempFail);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
}

TEST(ScoreCommand, ACommandWithoutAProgramOrWithoutTimeIsRefused) {
  ScoreCommand command = shell(kGood);
  command.timeout_s = 0;
  EXPECT_EQ(refusal(command, Texts(1).views()).code, ExitCode::Usage);
  command = shell(kGood);
  command.argv = {};
  EXPECT_EQ(refusal(command, Texts(1).views()).code, ExitCode::Usage);
}

struct WrongAnswers {
  std::vector<std::string> lines;
  std::vector<std::string> told;  // places, values and names
};

TEST(ScoreCommand, EachMistakeOfTheAnswersIsToldAndNoneOfThemIsUsed) {
  const std::string first = R"({"id": 0, "scores": {"a": 0.5}})";
  const std::vector<WrongAnswers> all = {
      {{first}, {"1 of 2", "id 1 \"t11\""}},
      {{}, {"2 of 2", "id 0 \"t10\"", "id 1 \"t11\""}},
      {{first, first}, {"stdout:2", "id 0", "stdout:1", "id 1 \"t11\""}},
      {{first, R"({"id": 2, "scores": {"a": 0.5}})"}, {"stdout:2", "id 2", "0 to 1"}},
      {{first, R"({"id": -1, "scores": {"a": 0.5}})"}, {"stdout:2", "id -1"}},
      {{first, R"({"id": "1", "scores": {"a": 0.5}})"}, {"stdout:2", "id \"1\""}},
      {{first, R"({"scores": {"a": 0.5}})"}, {"stdout:2", "'id'"}},
      {{first, R"({"id": 1})"}, {"stdout:2", "'scores'"}},
      {{first, R"({"id": 1, "scores": {"a": 0.5}, "time": 3})"}, {"stdout:2", "'time'"}},
      {{first, R"({"id": 1, "scores": {"a": NaN}})"}, {"stdout:2", "NaN"}},
      {{first, R"({"id": 1, "scores": {"a": "NaN"}})"}, {"stdout:2: scores.a", "\"NaN\""}},
      {{first, R"({"id": 1, "scores": {"a": -Infinity}})"}, {"stdout:2", "Infinity"}},
      {{first, R"({"id": 1, "scores": {"a": 1e999}})"}, {"stdout:2", "1e999"}},
      {{first, R"({"id": 1, "scores": {"a": null}})"}, {"stdout:2: scores.a", "null"}},
      {{first, R"({"id": 1, "scores": {"a": 1.5}})"}, {"stdout:2: scores.a", "1.5", "[0, 1]"}},
      {{first, R"({"id": 1, "scores": {"a": -0.25}})"}, {"stdout:2: scores.a", "-0.25"}},
      {{first, R"({"id": 1, "scores": {"b": 0.5}})"}, {"stdout:2: scores", "'b'", "'a'"}},
      {{first, R"({"id": 1, "scores": {"a": 0.5, "b": 1}})"}, {"stdout:2: scores", "'b'"}},
      {{first, R"({"id": 1, "scores": 0.5})"}, {"stdout:2: scores", "0.5"}},
      {{"loading the model", first}, {"stdout:1", "loading the model", "id 1 \"t11\""}},
      {{first, R"({"id": 1, "scores": {"a": 0.5)"}, {"stdout:2"}},
      {{R"({"id": 0, "scores": {"a": 7}})", R"({"id": 1, "scores": {"a": 8}})"},
       {"stdout:1: scores.a: 7", "stdout:2: scores.a: 8"}},
  };
  const Texts texts(2);
  const test::TemporaryFolder folder;
  for (const WrongAnswers& wrong : all) {
    ScoreCommand command = script_in(folder, says(wrong.lines));
    command.probability = true;
    command.cache = folder.path() / "cache";
    const Refusal refused = refusal(command, texts.views());
    EXPECT_EQ(refused.code, ExitCode::BadData) << says(wrong.lines);
    for (const std::string& part : wrong.told) {
      EXPECT_TRUE(refused.tells(part)) << part << "\n" << refused.said;
    }
    EXPECT_TRUE(files_in(command.cache).empty()) << says(wrong.lines);
  }
}

/// A classifier with a cache that counts its calls.
class CountedClassifier {
 public:
  CountedClassifier() : calls_(folder_.path() / "calls") {
    command_ = shell("echo call >>" + calls_.string() + "; " + kGood);
    command_.cache = folder_.path() / "cache";
  }
  CommandScores scores(const Texts& texts) const {
    return run_score_command(command_, texts.views());
  }
  std::int64_t calls() const { return calls_in(calls_); }
  ScoreCommand& command() { return command_; }
  fs::path only_file() const { return files_in(command_.cache).at(0); }

 private:
  test::TemporaryFolder folder_;
  fs::path calls_;
  ScoreCommand command_;
};

TEST(ScoreCommand, ASecondRunMakesNoCallAndGivesTheSameBits) {
  const CountedClassifier classifier;
  const CommandScores first = classifier.scores(Texts(40));
  EXPECT_EQ(classifier.calls(), 1);
  const CommandScores second = classifier.scores(Texts(40));
  EXPECT_EQ(classifier.calls(), 1);
  EXPECT_EQ(second.scores, first.scores);
  EXPECT_EQ(second.asked, 0);
  EXPECT_EQ(second.cached, 40);
}

TEST(ScoreCommand, OnlyTextsThatAreNotKnownAreAsked) {
  const CountedClassifier classifier;
  classifier.scores(Texts(5));
  const CommandScores more = classifier.scores(Texts(8, 12));
  EXPECT_EQ(more.asked, 5);
  EXPECT_EQ(more.cached, 3);
  EXPECT_EQ(more.scores, (std::vector<double>{0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 0.18, 0.19}));
  EXPECT_EQ(classifier.scores(Texts(10)).cached, 10);
  EXPECT_EQ(classifier.calls(), 2);
}

TEST(ScoreCommand, OtherArgumentsOrNamesAreAnotherClassifier) {
  CountedClassifier classifier;
  classifier.scores(Texts(3));
  classifier.command().argv.emplace_back("--version-2");
  EXPECT_EQ(classifier.scores(Texts(3)).asked, 3);
  classifier.command().names = {"b"};
  EXPECT_THROW(classifier.scores(Texts(3)), UserError) << "answers of 'a' are none of 'b'";
  EXPECT_EQ(classifier.calls(), 3);
}

TEST(ScoreCommand, ADamagedCacheIsAskedAgain) {
  const CountedClassifier classifier;
  const std::vector<double> sound = classifier.scores(Texts(3)).scores;
  const fs::path file = classifier.only_file();
  const auto size = static_cast<std::streamoff>(fs::file_size(file));
  std::int64_t calls = 1;
  for (const std::streamoff at :
       {std::streamoff{0}, std::streamoff{3}, size / 2, size - 30, size - 8, size - 1}) {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekg(at);
    const int byte = damaged.get();
    damaged.seekp(at).put(static_cast<char>(byte ^ 1));
    damaged.close();
    EXPECT_EQ(classifier.scores(Texts(3)).scores, sound) << "byte " << at;
    EXPECT_EQ(classifier.calls(), ++calls) << "byte " << at;
  }
  for (const std::uintmax_t shorter :
       {static_cast<std::uintmax_t>(size) - 1, std::uintmax_t{9}, std::uintmax_t{0}}) {
    fs::resize_file(file, shorter);
    EXPECT_EQ(classifier.scores(Texts(3)).scores, sound) << shorter;
    EXPECT_EQ(classifier.calls(), ++calls) << shorter;
  }
  EXPECT_EQ(classifier.scores(Texts(3)).cached, 3);
  EXPECT_EQ(classifier.calls(), calls);
  EXPECT_EQ(files_in(file.parent_path()).size(), 1U) << "nothing is left beside it";
}

TEST(ScoreCommand, KnownAnswersThatAreNoProbabilitiesAreAskedAgain) {
  const test::TemporaryFolder folder;
  ScoreCommand command = shell(says({R"({"id": 0, "scores": {"a": 1.5}})"}));
  command.cache = folder.path();
  EXPECT_EQ(run_score_command(command, Texts(1).views()).scores, std::vector<double>{1.5});
  command.probability = true;
  EXPECT_TRUE(refusal(command, Texts(1).views()).tells("scores.a: 1.5"));
}

TEST(ScoreCommand, AnotherVersionIsAskedAgain) {
  const test::TemporaryFolder folder;
  ScoreCommand command = shell(kGood);
  command.cache = folder.path() / "cache";
  for (const char* version : {"one", "two"}) {
    command.versions = {version};
    EXPECT_EQ(run_score_command(command, Texts(1).views()).asked, 1) << version;
    EXPECT_EQ(run_score_command(command, Texts(1).views()).asked, 0) << version;
  }
}

TEST(ScoreCommand, ACacheThatCannotBeWrittenCostsNothingButTime) {
  const test::TemporaryFolder folder;
  ScoreCommand command = shell(kGood);
  command.cache = folder.write("file", "no folder") / "cache";
  EXPECT_EQ(run_score_command(command, Texts(1).views()).scores, std::vector<double>{0.1});
}

}  // namespace score_command_test
}  // namespace depthgrid
