#include "worker/eval/steering_evaluation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ops/zeros.h>

#include "worker/session/control_facts.hpp"

namespace depthgrid {
namespace steering_evaluation_test {

using F = SteeringFigures;
using Masses = std::array<double, 3>;  // u = +e, 0, -e

constexpr auto kValid = static_cast<std::size_t>(Split::Valid);

/// Probability of tokens 1 to 5 behind input 9, and what a unit of u on each axis adds to it.
constexpr std::array<double, 6> kBase = {0, .1, .1, .3, .2, .2};
constexpr std::array<std::array<double, 6>, 2> kAdded = {
    {{0, .1, .1, -.2, 0, 0}, {0, 0, 0, 0, .1, -.05}}};

/// Cell 0 does not listen to u, cell 1 does. Behind input x, all probabilities are x / 9 as large.
class TableModel final : public LanguageModel {
 public:
  Losses losses(const Batch&) override { return {}; }
  Scores score(const Batch&) override { return {}; }

  at::Tensor answer_losses(const Batch& batch) override {
    const std::int64_t rows = batch.windows.size(1);
    most_rows = std::max(most_rows, rows);
    ++calls;
    EXPECT_EQ(batch.control.u.sizes(), (at::IntArrayRef{2, rows, 1, 2}));
    at::Tensor out = at::zeros({2, rows});
    for (std::int64_t e = 0; e < 2; ++e) {
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto place = batch.answers.place[0][r].item<std::int64_t>();
        EXPECT_EQ(place, batch.windows.size(2) - 2) << "rows of a batch are alike long";
        const auto input = batch.windows[0][r][place].item<double>();
        double sum = 0;
        for (std::int64_t s = 0; s < batch.answers.wanted.size(2); ++s) {
          const auto token = batch.answers.wanted[0][r][s].item<std::int64_t>();
          if (token < 0) continue;
          const auto word = static_cast<std::size_t>(token);
          sum += kBase[word];
          for (std::int64_t k = 0; k < 2 && e == 1; ++k) {
            sum += batch.control.u[e][r][0][k].item<double>() *
                   kAdded[static_cast<std::size_t>(k)][word];
          }
        }
        out[e][r] = e == 0 && broken ? std::numeric_limits<double>::quiet_NaN()
                                     : -std::log(sum * input / 9);
      }
    }
    return out;
  }

  bool broken = false;  // cell 0 has diverged
  std::int64_t most_rows = 0;
  int calls = 0;
};

/// Windows of four tokens; the last input of each is 3, the others are 8.
struct Setting {
  explicit Setting(std::int64_t windows = 5) {
    config = make_config({{"data.seq_len", 4}, {"eval.batch_size", 2}});
    std::vector<std::uint32_t> ids;
    for (std::int64_t i = 0; i <= 4 * windows; ++i) ids.push_back(i % 4 == 3 ? 3 : 8);
    if (windows > 0) data.streams[kValid] = TokenStream::from_ids(ids, 10, 0);
  }

  std::optional<std::vector<F>> ask(const std::vector<SteeringTokens>& prompts,
                                    const std::function<bool()>& stop = {}) {
    const EvalPlan plan(config, data, 2);
    return SteeringEvaluation(plan, data, prompts, 2, 2).on(model, stop);
  }
  std::vector<F> figures(const std::vector<SteeringTokens>& prompts) {
    return ask(prompts).value();
  }

  CellConfig config;
  Dataset data;
  TableModel model;
};

/// Axis 0: 1 and 2 against 3; axis 1: 4 against 5. Prompts end in 9 or in 6.
std::vector<SteeringTokens> some_prompts() {
  return {{.axis = 0, .prompt = {7, 7, 9}, .positive = {1, 2}, .negative = {3}},
          {.axis = 1, .prompt = {9}, .positive = {4}, .negative = {5}},
          {.axis = 0, .prompt = {6}, .positive = {1, 2}, .negative = {3}},
          {.axis = 0, .heldout = true, .prompt = {7, 6}, .positive = {2}, .negative = {3}}};
}

void expect_near(const Masses& given, const Masses& expected) {
  for (std::size_t s = 0; s < 3; ++s) EXPECT_NEAR(given[s], expected[s], 1e-6) << s;
}

TEST(SteeringEvaluation, TellsTheMeanProbabilityOfBothSetsUnderEachSignal) {
  Setting s;

  const std::vector<F> cells = s.figures(some_prompts());

  ASSERT_EQ(cells.size(), 2U);
  ASSERT_EQ(cells[1].axes.size(), 2U);
  // Behind 9 and 6: the mean of 1 and 2/3 of the table's probabilities.
  const F::Entry& train = cells[1].axes[0][F::Train];
  EXPECT_EQ(train.prompts, 2);
  expect_near(train.positive, {.4 * 5 / 6, .2 * 5 / 6, 0});
  expect_near(train.negative, {.1 * 5 / 6, .3 * 5 / 6, .5 * 5 / 6});
  const F::Entry& heldout = cells[1].axes[0][F::Heldout];
  EXPECT_EQ(heldout.prompts, 1);
  expect_near(heldout.positive, {.2 * 2 / 3, .1 * 2 / 3, 0});
  expect_near(cells[1].axes[1][F::Train].positive, {.3, .2, .1});
  expect_near(cells[1].axes[1][F::Train].negative, {.15, .2, .25});
  expect_near(cells[0].axes[0][F::Train].positive, {.2 * 5 / 6, .2 * 5 / 6, .2 * 5 / 6});
}

TEST(SteeringEvaluation, AccuracyIsTheShareOfSignsThatMakeTheirSetTheMoreProbableOne) {
  Setting s;

  const std::vector<F> cells = s.figures(some_prompts());

  EXPECT_EQ(cells[1].axes[0][F::Train].accuracy, 1);
  EXPECT_EQ(cells[1].axes[0][F::Train].neutral_share, 0);  // .2 against .3
  EXPECT_EQ(cells[0].axes[0][F::Train].accuracy, .5) << "the negative set under both signs";
  EXPECT_EQ(cells[1].axes[1][F::Train].accuracy, 1);
  EXPECT_EQ(cells[1].axes[1][F::Train].neutral_share, .5) << "a tie";
  EXPECT_EQ(cells[0].axes[1][F::Train].accuracy, .5) << "ties";
}

TEST(SteeringEvaluation, AsksBehindTextForAllWordsOfAnAxis) {
  Setting s;
  std::vector<SteeringTokens> prompts = some_prompts();
  prompts[2].positive = {1};  // the union still has 2

  const std::vector<F> cells = s.figures(prompts);

  const F::Entry& text = cells[1].axes[0][F::Text];
  EXPECT_EQ(text.prompts, 5);
  expect_near(text.positive, {.4 / 3, .2 / 3, 0});
  expect_near(text.negative, {.1 / 3, .3 / 3, .5 / 3});
  EXPECT_TRUE(std::isnan(text.accuracy));
  EXPECT_EQ(text.neutral_share, 0);
}

TEST(SteeringEvaluation, LooksAtNoMoreThan256WindowsIn32RowsAtATime) {
  Setting s(300);
  s.config = make_config({{"data.seq_len", 4}, {"eval.batch_size", 100}});
  std::vector<SteeringTokens> prompts;
  for (int i = 0; i < 70; ++i) prompts.push_back(some_prompts()[0]);

  const std::vector<F> cells = s.figures(prompts);

  EXPECT_EQ(cells[0].axes[0][F::Train].prompts, 70);
  EXPECT_EQ(cells[0].axes[0][F::Text].prompts, 256);
  EXPECT_EQ(s.model.most_rows, 32);
  EXPECT_EQ(s.model.calls, 6 * (3 + 8)) << "axis 1 has no words to ask for";
}

TEST(SteeringEvaluation, OfNothingIsNoNumber) {
  Setting s(0);

  const std::vector<F> cells = s.figures(some_prompts());

  const F::Entry& absent = cells[1].axes[1][F::Heldout];
  EXPECT_EQ(absent.prompts, 0);
  EXPECT_TRUE(std::isnan(absent.positive[F::Plus]));
  EXPECT_TRUE(std::isnan(absent.negative[F::Minus]));
  EXPECT_TRUE(std::isnan(absent.accuracy));
  EXPECT_TRUE(std::isnan(absent.neutral_share));
  EXPECT_EQ(cells[1].axes[0][F::Text].prompts, 0);
  EXPECT_TRUE(std::isnan(cells[1].axes[0][F::Text].positive[F::Zero]));
}

TEST(SteeringEvaluation, ACellThatDivergedHasNoNumbersAndItsNeighbourIts) {
  Setting s;
  s.model.broken = true;

  const std::vector<F> cells = s.figures(some_prompts());

  EXPECT_TRUE(std::isnan(cells[0].axes[0][F::Train].accuracy));
  EXPECT_TRUE(std::isnan(cells[0].axes[0][F::Train].positive[F::Plus]));
  EXPECT_EQ(cells[1].axes[0][F::Train].accuracy, 1);
}

TEST(SteeringEvaluation, EndsWhenItIsStopped) {
  Setting s;
  int asked = 0;

  EXPECT_FALSE(s.ask(some_prompts(), [&] { return ++asked > 3; }));
  EXPECT_EQ(s.model.calls, 3);
}

TEST(SteeringFacts, LieAlongAxisPartAndSignal) {
  Setting s;
  const std::vector<F> cells = s.figures(some_prompts());
  CellFacts facts;

  set_steering(facts, {"mood", "scale"}, cells, 1, 1);

  ASSERT_EQ(facts.axes.size(), 3U);
  EXPECT_EQ(facts.axes[0].name, "control_axis");
  EXPECT_EQ(facts.axes[0].labels, (std::vector<std::string>{"mood", "scale"}));
  EXPECT_EQ(facts.axes[1].name, "steering_part");
  EXPECT_EQ(facts.axes[1].labels, (std::vector<std::string>{"train", "heldout", "text"}));
  EXPECT_EQ(facts.axes[2].name, "steering_signal");
  EXPECT_EQ(facts.axes[2].labels, (std::vector<std::string>{"plus", "zero", "minus"}));
  EXPECT_EQ(facts.numbers.at("steering_prompts"), (std::vector<double>{2, 1, 5, 1, 0, 5}));
  const std::vector<double>& positive = facts.numbers.at("steering_positive_mass");
  const std::vector<double>& negative = facts.numbers.at("steering_negative_mass");
  ASSERT_EQ(positive.size(), 18U);
  ASSERT_EQ(negative.size(), 18U);
  EXPECT_NEAR(positive[3], .2 * 2 / 3, 1e-6) << "axis mood, part heldout, signal plus";
  EXPECT_NEAR(positive[9], .3, 1e-6) << "axis scale, part train, signal plus";
  EXPECT_NEAR(negative[11], .25, 1e-6) << "axis scale, part train, signal minus";
  EXPECT_EQ(facts.numbers.at("steering_accuracy")[3], 1);
  EXPECT_EQ(facts.numbers.at("steering_neutral_share")[3], .5);
}

TEST(SteeringFacts, AreNoneWithoutAnEvaluation) {
  CellFacts facts;

  set_steering(facts, {"mood"}, {}, 0, 1);

  EXPECT_TRUE(facts.axes.empty());
  EXPECT_TRUE(facts.numbers.empty());
}

}  // namespace steering_evaluation_test
}  // namespace depthgrid
