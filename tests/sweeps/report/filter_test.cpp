#include "sweeps/report/filter.hpp"

#include <map>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace filter_test {

const std::vector<std::string> kNames = {"alias",      "status",         "seed",
                                         "model.gate", "model.depth",    "other.gate",
                                         "train_loss", "eval_loss.valid"};

const std::map<std::string, Value> kCell = {
    {"alias", "gate=token,s0"}, {"status", "completed"}, {"seed", 3},
    {"model.gate", "token"},    {"model.depth", 12},     {"eval_loss.valid", 2.5}};

bool matches(const std::string& text) {
  return parse_filter(text, kNames)([](const std::string& name) {
    const auto at = kCell.find(name);
    return at == kCell.end() ? Value() : at->second;
  });
}

std::string error_of(const std::string& text) {
  try {
    parse_filter(text, kNames);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    return e.what();
  }
  return "no error";
}

TEST(Filter, ComparesNumbersAsNumbers) {
  EXPECT_TRUE(matches("model.depth = 12"));
  EXPECT_TRUE(matches("model.depth == 12.0"));
  EXPECT_TRUE(matches("model.depth > 6"));
  EXPECT_TRUE(matches("model.depth >= 12"));
  EXPECT_FALSE(matches("model.depth < 12"));
  EXPECT_TRUE(matches("eval_loss.valid <= 2.5"));
  EXPECT_TRUE(matches("eval_loss.valid<26e-1"));
  EXPECT_TRUE(matches("seed != 4"));
}

TEST(Filter, ComparesWordsAndQuotedTexts) {
  EXPECT_TRUE(matches("model.gate = token"));
  EXPECT_FALSE(matches("model.gate != token"));
  EXPECT_TRUE(matches("alias = 'gate=token,s0'"));
  EXPECT_TRUE(matches("status = \"completed\""));
  EXPECT_TRUE(matches("status < running"));
}

TEST(Filter, StarsAndQuestionMarksAreWild) {
  EXPECT_TRUE(matches("alias = 'gate=*,s0'"));
  EXPECT_TRUE(matches("alias = *s?"));
  EXPECT_FALSE(matches("alias = *s??"));
  EXPECT_TRUE(matches("alias != 'gate=none*'"));
  EXPECT_FALSE(matches("alias < a*"));  // a pattern has no order
  EXPECT_FALSE(matches("seed = *"));    // nor does it fit a number
  EXPECT_TRUE(fits_pattern("abcabd", "*abd"));
  EXPECT_TRUE(fits_pattern("Δt", "?t"));
  EXPECT_TRUE(fits_pattern("", "*"));
  EXPECT_FALSE(fits_pattern("", "?"));
  EXPECT_FALSE(fits_pattern("ab", "a"));
}

TEST(Filter, DifferentTypesAreNeverEqualNorOrdered) {
  EXPECT_FALSE(matches("model.depth = twelve"));
  EXPECT_FALSE(matches("model.depth < twelve"));
  EXPECT_TRUE(matches("model.depth != twelve"));
  EXPECT_FALSE(matches("model.depth = '12'"));
}

TEST(Filter, AndBindsTighterThanOr) {
  EXPECT_TRUE(matches("seed = 3 or seed = 4 and depth = 99"));
  EXPECT_FALSE(matches("(seed = 3 or seed = 4) and depth = 99"));
  EXPECT_TRUE(matches("not seed = 4 and depth = 12"));
  EXPECT_FALSE(matches("not (seed = 4 or depth = 12)"));
  EXPECT_TRUE(matches("not not seed = 3"));
}

TEST(Filter, ALastComponentIsEnoughWhereItIsUnique) {
  EXPECT_TRUE(matches("depth = 12"));
  EXPECT_TRUE(matches("valid < 3"));
  EXPECT_NE(error_of("gate = token").find("model.gate, other.gate"), std::string::npos);
}

TEST(Filter, AMissingValueMatchesOnlyNull) {
  EXPECT_FALSE(matches("train_loss < 3"));
  EXPECT_FALSE(matches("train_loss != 3"));
  EXPECT_TRUE(matches("train_loss = null"));
  EXPECT_TRUE(matches("seed != null"));
  EXPECT_TRUE(matches("train_loss == null"));
  EXPECT_FALSE(matches("train_loss != null"));
  EXPECT_FALSE(matches("train_loss <= null"));
  EXPECT_FALSE(matches("seed = null"));
  EXPECT_FALSE(matches("seed >= null"));
}

TEST(Filter, MarksTheFaultWithACaret) {
  const std::string said = error_of("seed = 3 and depht > 6");
  EXPECT_TRUE(said.starts_with("filter:14: ")) << said;
  EXPECT_NE(said.find("'depht'"), std::string::npos) << said;
  EXPECT_NE(said.find("model.depth?"), std::string::npos) << said;
  EXPECT_TRUE(
      said.ends_with("\n"
                     "  seed = 3 and depht > 6\n"
                     "               ^"))
      << said;
  EXPECT_NE(error_of("loss = 1").find("train_loss or eval_loss.valid"), std::string::npos);
  EXPECT_NE(error_of("frobnicate = 1").find("alias, status, seed"), std::string::npos);
  EXPECT_TRUE(error_of("(seed = 3").starts_with("filter:1: "));
  EXPECT_TRUE(error_of("(seed = 3").ends_with("\n  (seed = 3\n  ^"));
}

TEST(Filter, RefusesWhatIsNoCondition) {
  for (const char* text : {"", "seed", "seed =", "= 3", "seed = 3 4", "seed ! 3", "seed = 'a",
                           "not", "seed = 3 and", "()", "seed = (3)"}) {
    EXPECT_NE(error_of(text), "no error") << text;
  }
  EXPECT_NE(error_of(std::string(100000, '(')).find("nested too deeply"), std::string::npos);
}

TEST(ResolveName, OfManyNamesOnlyTheNearestAreSaid) {
  std::vector<std::string> names;
  for (char c = 'a'; c <= 'z'; ++c) names.push_back(std::string("eval.") + c + c + c + c);
  const auto said = [&](const char* text) -> std::string {
    try {
      resolve_name(text, names, "depthgrid schema");
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  const std::string near = said("kknmo");
  for (const char* part :
       {"'kknmo'", " 26 ", "eval.kkkk, eval.mmmm, eval.nnnn", "depthgrid schema"}) {
    EXPECT_NE(near.find(part), std::string::npos) << near;
  }
  EXPECT_EQ(near.find("eval.aaaa"), std::string::npos) << near;
  EXPECT_NE(said("eval").find(" 26 "), std::string::npos) << said("eval");
}

}  // namespace filter_test
}  // namespace depthgrid
