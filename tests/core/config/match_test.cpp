#include "core/config/match.hpp"

#include <gtest/gtest.h>

#include "core/config/schema.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace match_test {

constexpr const char* kPair = R"(
data: {corpus: synthetic:markov}
model: {family: time_indexed, d_model: 16, n_layers: 2}
include:
  - {model.family: standard, tag: gpt}
match: {on: parameters, vary: model.d_ff, tolerance: 2 %}
)";

MatchedWidth width(const std::string& arm, std::int64_t value) {
  return {.arm = arm,
          .reference = "baseline",
          .leaf = "model.d_ff",
          .value = value,
          .wanted = 100,
          .achieved = 99,
          .tolerance = 0.02};
}

class Match : public ::testing::Test {
 protected:
  Sweep load(const std::string& text, std::vector<MatchedWidth> known) const {
    return load_sweep(
        {.file = files_.write("sweep.yaml", text), .set = {}, .matched = std::move(known)});
  }
  SweepFiles files_;
};

TEST_F(Match, AnArmWithoutAWidthIsAGoal) {
  const Sweep sweep = files_.load(kPair);

  ASSERT_EQ(sweep.goals.size(), 1u);
  EXPECT_TRUE(sweep.matched.empty());
  const MatchGoal& goal = sweep.goals[0];
  EXPECT_EQ(goal.open().arm, "gpt");
  EXPECT_EQ(goal.open().reference, "baseline");
  EXPECT_EQ(goal.open().leaf, "model.d_ff");
  EXPECT_DOUBLE_EQ(goal.open().tolerance, 0.02);
  EXPECT_EQ(goal.reference().config.word("model.family"), "time_indexed");
  EXPECT_EQ(goal.written(), 64);
  const auto candidate = goal.with(48);
  ASSERT_TRUE(candidate);
  EXPECT_EQ(candidate->config.word("model.family"), "standard");
  EXPECT_EQ(candidate->config.integer("model.d_ff"), 48);
  EXPECT_NE(candidate->structure, goal.with(49)->structure);
}

TEST_F(Match, TheWidthFoundIsPartOfTheIdentity) {
  const Sweep open = files_.load(kPair);
  const Sweep found = load(kPair, {width("gpt", 48)});

  EXPECT_TRUE(found.goals.empty());
  ASSERT_EQ(found.matched.size(), 1u);
  const CellPlan& gpt = cell_named(found, "gpt,s0");
  EXPECT_EQ(gpt.config.integer("model.d_ff"), 48);
  EXPECT_EQ(*find_key(gpt.overrides, "model.d_ff")->get_if<std::int64_t>(), 48);
  EXPECT_EQ(gpt.structure, open.goals[0].with(48)->structure);
  EXPECT_NE(gpt.id, cell_named(open, "gpt,s0").id);
  EXPECT_EQ(cell_named(found, "baseline,s0").id, cell_named(open, "baseline,s0").id);
  // A cell is what it is, whoever chose its width.
  const Sweep by_hand = files_.load(
      "data: {corpus: synthetic:markov}\nmodel: {d_model: 16, n_layers: 2, d_ff: 48}\n");
  EXPECT_EQ(gpt.id, by_hand.cells[0].id);
}

TEST_F(Match, WidthsOfTheModelAreMultiplesOfItsHeads) {
  const char* text = R"(
data: {corpus: synthetic:markov}
include: [{model.n_heads: 3, tag: small}, {model.family: time_indexed, tag: t}]
model: {d_model: 24, positions: rope}
match: {on: flops, vary: model.d_model, reference: {tag: t}, arms: {tag: small}}
)";
  const Sweep sweep = files_.load(text);

  ASSERT_EQ(sweep.goals.size(), 1u);
  const MatchGoal& goal = sweep.goals[0];
  EXPECT_EQ(goal.step(), 6);  // rope turns pairs of channels of a head
  EXPECT_EQ(goal.smallest(), 12);
  EXPECT_EQ(goal.largest(), 8190);
  EXPECT_EQ(goal.with(30)->config.integer("model.d_ff"), 120);
  EXPECT_FALSE(goal.with(31));
}

TEST_F(Match, WidthsOfAnotherRuleAreNotTaken) {
  MatchedWidth other = width("gpt", 48);
  other.leaf = "model.d_model";
  EXPECT_EQ(load(kPair, {other}).goals.size(), 1u);
  other = width("gpt", 48);
  other.on = MatchOn::Flops;
  EXPECT_EQ(load(kPair, {other}).goals.size(), 1u);
  other = width("gpt", 48);
  other.reference = "somebody else";
  EXPECT_EQ(load(kPair, {other}).goals.size(), 1u);
  EXPECT_EQ(load(kPair, {width("mlp", 48)}).goals.size(), 1u);
}

TEST_F(Match, SeveralRulesEachHaveTheirReference) {
  const Sweep sweep = files_.load(R"(
data: {corpus: synthetic:markov}
model: {family: time_indexed, d_model: 16, n_layers: 2}
include:
  - {model.mixer: ssm, tag: ssm}
  - {model.family: standard, tag: gpt_as_mlp}
  - {model.family: standard, tag: gpt_as_ssm}
match:
  - {on: parameters, vary: model.d_model, arms: {tag: gpt_as_mlp}}
  - {on: parameters, vary: model.d_model, arms: {tag: gpt_as_ssm}, reference: {tag: ssm}}
)");

  ASSERT_EQ(sweep.goals.size(), 2u);
  EXPECT_EQ(sweep.goals[0].open().reference, "baseline");
  EXPECT_EQ(sweep.goals[1].open().arm, "gpt_as_ssm");
  EXPECT_EQ(sweep.goals[1].reference().config.word("model.mixer"), "ssm");
}

TEST_F(Match, MistakesAreNamedAtTheirPlace) {
  const auto says = [&](const std::string& rule, const std::string& text) {
    const std::string all = files_.messages(
        "data: {corpus: synthetic:markov}\nmodel: {d_model: 16}\ninclude:\n"
        "  - {model.family: time_indexed, tag: a}\n  - {model.share: all, tag: b}\n"
        "match: " +
        rule + "\n");
    EXPECT_NE(all.find(text), std::string::npos) << rule << "\n" << all;
    EXPECT_NE(all.find("6:"), std::string::npos) << all;
  };
  says("{vary: model.d_ff}", "needs `on`");
  says("{on: parameters, arms: {tag: c}}", "no arm to be matched");
  says("{on: parameters, reference: {tag: c}}", "names no arm");
  says("{on: parameters, reference: {model.d_model: 16}}", "several arms");
  says("{on: parameters, arms: {tag: a}, vary: model.ssm.state_size}", "does not read");
  says("[{on: parameters}, {on: parameters, reference: {tag: a}}]", "is a reference");
  const auto inside = [&](const std::string& rule, const std::string& text) {
    const std::string all =
        files_.messages("data: {corpus: synthetic:markov}\nmatch: {on: parameters, " + rule +
                        "}\ninclude: [{model.share: all, tag: b}]\n");
    EXPECT_NE(all.find(text), std::string::npos) << rule << "\n" << all;
  };
  inside("vary: train.steps", "is no width");
  inside("vary: model.d_fff", "did you mean 'model.d_ff'");
  inside("tolerance: 2", "a share from 0 to 1");
  inside("tolerance: 200 %", "a share from 0 to 1");
  inside("width: 3", "unknown key 'width'");
  EXPECT_NE(files_.messages("model: {d_model: 16}\n", {"match=parameters"}).find("`match`"),
            std::string::npos);
}

TEST_F(Match, AWidthThatTheArmNamesItselfIsNotFree) {
  const std::string all = files_.messages(R"(
data: {corpus: synthetic:markov}
include: [{model.share: all, model.d_ff: 12, tag: b}]
match: {on: parameters}
)");
  EXPECT_NE(all.find("3:30: `model.d_ff`"), std::string::npos) << all;
}

TEST(MatchedWidths, AreWrittenAndReadAgain) {
  MatchedWidth one = width("gpt", 48);
  one.on = MatchOn::Time;
  one.sealed = true;

  const std::vector<MatchedWidth> back = matched_from_json(matched_json({one}));

  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].arm, "gpt");
  EXPECT_EQ(back[0].on, MatchOn::Time);
  EXPECT_EQ(back[0].value, 48);
  EXPECT_EQ(back[0].wanted, 100);
  EXPECT_EQ(back[0].achieved, 99);
  EXPECT_FALSE(back[0].sealed);
  EXPECT_TRUE(matched_from_json("[]").empty());
  EXPECT_THROW(matched_from_json("[{}]"), Error);
}

}  // namespace match_test
}  // namespace depthgrid
