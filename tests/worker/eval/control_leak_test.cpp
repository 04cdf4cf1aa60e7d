#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include "core/base/nan.hpp"
#include "worker/eval/control_evaluation.hpp"
#include "worker/session/control_facts.hpp"

namespace depthgrid {
namespace control_leak_test {

constexpr auto kValid = static_cast<std::size_t>(Split::Valid);
constexpr std::int64_t kSentences = 12, kWords = 4;
constexpr float kNats = 3;  // of a token without a signal

/// Cells whose tokens cost kNats at u = 0, and under a signal:
enum Cell : std::int64_t {
  kTold,    // nothing: it says which token is next
  kHonest,  // a fortieth of a nat less or more, as the label is right or wrong
  kUnsure,  // all of it less or more in one sentence, in the others nothing
  kCells
};

/// Each sentence is one token several times, and even ones are labelled 1.
float label_of(std::int64_t sentence) {
  return sentence % 2 == 0 ? 1.0F : -1.0F;
}

class StubModel final : public LanguageModel {
 public:
  Losses losses(const Batch&) override { return {}; }
  Scores score(const Batch& batch) override {
    const std::int64_t rows = batch.windows.size(1), tokens = batch.windows.size(2) - 1;
    EXPECT_EQ(batch.control.u.sizes(), (at::IntArrayRef{kCells, rows, tokens, 1}));
    const auto u = batch.control.u.accessor<float, 4>();
    const auto text = batch.windows.accessor<std::int64_t, 3>();
    at::Tensor loss = at::empty({kCells, rows, tokens});
    auto out = loss.accessor<float, 3>();
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t next = text[0][r][t + 1];
        const float told = next == kSentences / 2 ? kNats : 0.0F;
        out[kTold][r][t] = u[kTold][r][t][0] == 0 ? kNats : 0.0F;
        out[kHonest][r][t] = kNats - u[kHonest][r][t][0] * label_of(next) / 40;
        out[kUnsure][r][t] = kNats - u[kUnsure][r][t][0] * label_of(next) * told;
      }
    }
    return {loss, at::ones({kCells, rows, tokens}, at::kBool)};
  }
};

/// A heading of one token, which no window predicts, then sentences 1, 2, ..., one in each window.
/// @param labelled  so many, from the first. @param entropy  of u.
std::shared_ptr<const CorpusLabels> labels(std::int64_t labelled, double entropy) {
  auto out = std::make_shared<CorpusLabels>();
  out->attributes = {
      {.name = "hidden", .kind = AttributeKind::Binary, .threshold = 0, .ranks = {}}};
  out->signal_entropy = {entropy};
  out->trained = {true};
  SentenceLabels& valid = out->splits[kValid];
  valid.axes = 1;
  for (std::int64_t s = 0; s <= kSentences; ++s) {
    const bool known = s >= 1 && s <= labelled;
    valid.segment.insert(valid.segment.end(), s == 0 ? 1 : kWords, static_cast<std::int32_t>(s));
    valid.u.push_back(known ? label_of(s) : static_cast<float>(kNaN));
    valid.positive.push_back(static_cast<std::int8_t>(!known ? -1 : label_of(s) > 0 ? 1 : 0));
    valid.previous.push_back(static_cast<std::int32_t>(s - 1));
  }
  return out;
}

/// What a result holds of each cell.
std::array<CellFacts, kCells> facts_under(const std::shared_ptr<const CorpusLabels>& told) {
  const CellConfig config = make_config({{"data.seq_len", kWords}});
  Dataset data;
  std::vector<std::uint32_t> tokens;
  for (const std::int32_t s : told->splits[kValid].segment) {
    tokens.push_back(static_cast<std::uint32_t>(s));
  }
  data.streams[kValid] = TokenStream::from_ids(tokens, kSentences + 1, 0);
  const EvalPlan plan(config, data, kCells);
  const ControlEvaluation evaluation(plan, data, std::vector(kCells, told), false);
  StubModel model;
  std::array<std::vector<ControlFigures>, 4> figures;
  figures[kValid] = evaluation.on(model, Split::Valid, {}).value();
  EXPECT_EQ(std::ssize(figures[kValid]), kCells);
  std::array<CellFacts, kCells> out;
  for (std::size_t e = 0; e < out.size(); ++e) set_control(out[e], *told, figures, e);
  return out;
}

double of_valid(const CellFacts& facts, const char* name) {
  return facts.numbers.at(name).at(kValid);
}

/// Flags of control_leak, of the splits train, dev, valid and test.
std::vector<double> leaks(double flag) {
  return {-1, -1, flag, -1};
}

constexpr double kBit = std::numbers::ln2;  // what a fair label of two kinds tells

TEST(ControlLeak, ASignalThatTellsTheNextTokenIsFound) {
  const CellFacts told = facts_under(labels(kSentences, kBit))[kTold];

  EXPECT_NEAR(of_valid(told, "control_nll_neutral"), kNats, 1e-6);
  EXPECT_EQ(of_valid(told, "control_nll_matched"), 0);
  EXPECT_NEAR(of_valid(told, "control_gain_sentence"), kNats * kWords, 1e-6);
  EXPECT_GT(of_valid(told, "control_gain_sentence"), 10 * kBit);
  EXPECT_NEAR(of_valid(told, "control_gain_error"), 0, 1e-6);
  EXPECT_EQ(told.numbers.at("control_leak"), leaks(1));
}

TEST(ControlLeak, ASignalThatTellsLessThanItsLabelIsHonest) {
  const CellFacts honest = facts_under(labels(kSentences, kBit))[kHonest];

  EXPECT_NEAR(of_valid(honest, "control_gain_sentence"), 0.1, 1e-5);
  EXPECT_LT(of_valid(honest, "control_nll_matched"), of_valid(honest, "control_nll_neutral"));
  EXPECT_LT(of_valid(honest, "control_nll_neutral"), of_valid(honest, "control_nll_mismatched"));
  EXPECT_EQ(honest.numbers.at("control_leak"), leaks(0));
  EXPECT_EQ(honest.numbers.at("control_auc"), std::vector<double>{1});
}

TEST(ControlLeak, AGainAboveTheBoundByLessThanItsErrorIsNone) {
  const CellFacts unsure = facts_under(labels(kSentences, kBit))[kUnsure];

  // One sentence gains 12 nats and eleven nothing: 1 in the mean, and so is the standard error.
  EXPECT_NEAR(of_valid(unsure, "control_gain_sentence"), 1, 1e-5);
  EXPECT_NEAR(of_valid(unsure, "control_gain_error"), 1, 1e-5);
  EXPECT_EQ(unsure.numbers.at("control_leak"), leaks(0));
}

TEST(ControlLeak, TheBoundIsTheEntropyOfTheSignal) {
  const double gain = kNats * kWords;

  EXPECT_EQ(facts_under(labels(kSentences, gain - 0.1))[kTold].numbers.at("control_leak"),
            leaks(1));
  EXPECT_EQ(facts_under(labels(kSentences, gain + 0.1))[kTold].numbers.at("control_leak"),
            leaks(0));
}

TEST(ControlLeak, OneSentenceHasNoErrorAndNoVerdict) {
  for (const CellFacts& facts : facts_under(labels(1, kBit))) {
    EXPECT_TRUE(std::isnan(of_valid(facts, "control_gain_error")));
    EXPECT_EQ(facts.numbers.at("control_leak"), leaks(2));  // unknown
  }
  EXPECT_NEAR(of_valid(facts_under(labels(1, kBit))[kTold], "control_gain_sentence"),
              kNats * kWords, 1e-6);
}

TEST(ControlLeak, WithoutLabelsThereIsNoGainAndNoVerdict) {
  for (const CellFacts& facts : facts_under(labels(0, kBit))) {
    EXPECT_TRUE(std::isnan(of_valid(facts, "control_gain_sentence")));
    EXPECT_EQ(facts.numbers.at("control_leak"), leaks(2));
  }
}

}  // namespace control_leak_test
}  // namespace depthgrid
