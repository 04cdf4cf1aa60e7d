#include "worker/eval/mode_evaluation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ops/randn.h>

#include "worker/model/fused_model.hpp"

namespace depthgrid {
namespace mode_evaluation_test {

constexpr auto kValid = static_cast<std::size_t>(Split::Valid);

/// A small tdt on text of 16 tokens, dev and valid.
struct Setting {
  explicit Setting(const ValueMap& more) {
    ValueMap leaves = {{"model.family", "tdt"},  {"model.d_model", 16},
                       {"model.n_layers", 4},    {"model.n_heads", 2},
                       {"data.seq_len", 8},      {"eval.windows", 6},
                       {"eval.mode_windows", 2}, {"data.corpus", "synthetic:markov"},
                       {"eval.final_windows", 9}};
    leaves.insert(leaves.end(), more.begin(), more.end());
    config = make_config(leaves);
    fused = std::make_unique<FusedModel>(std::vector<const CellConfig*>{&config}, at::kCPU);
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i < 200; ++i) ids.push_back((i * i + i / 7) % 16);
    for (const Split split : {Split::Dev, Split::Valid}) {
      data.streams[static_cast<std::size_t>(split)] = TokenStream::from_ids(ids, 16, 0);
    }
    plan = std::make_unique<EvalPlan>(config, data, 1);
  }

  ModeEvaluation modes() {
    return {data, *plan, *fused->model, *fused->language, configured_modes(config, *fused->model)};
  }

  /// @param listens  so that the mode of the default evaluation is not evaluated again.
  ModeResults evaluated(bool final, bool listens) {
    ModeEvaluation modes = this->modes();
    modes.calibrate(final);
    const SplitDone done = listens ? modes.listener(final) : SplitDone();
    const SplitResults plain = final ? plan->final(*fused->language, {}, done).value()
                                     : plan->periodic(*fused->language, done);
    loss = plain[kValid].at(0).loss;
    int batches = 0;
    ModeResults out = modes
                          .evaluate(final,
                                    [&] {
                                      ++batches;
                                      return false;
                                    })
                          .value();
    asked = batches;
    return out;
  }

  CellConfig config;
  Dataset data;
  std::unique_ptr<FusedModel> fused;
  std::unique_ptr<EvalPlan> plan;
  double loss = 0;  // of the default evaluation
  int asked = 0;    // batches of the modes
};

void expect_equal(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << a[i] << ", " << b[i];
  }
}

void expect_equal(const ModeResults& a, const ModeResults& b) {
  expect_equal(a.loss, b.loss);
  expect_equal(a.executed, b.executed);
  expect_equal(a.rate, b.rate);
  expect_equal(a.mismatch, b.mismatch);
  expect_equal(a.student, b.student);
}

TEST(ModeEvaluation, TheModeOfTheDefaultEvaluationKeepsItsBitsWithoutAPassOfItsOwn) {
  Setting s({{"eval.final_splits", ValueList{"dev", "valid"}}});
  const ModeResults own = s.evaluated(true, false);
  const int batches = s.asked;

  expect_equal(s.evaluated(true, true), own);

  EXPECT_LT(s.asked, batches) << "it was evaluated again";
  EXPECT_EQ(own.loss.at(label_index(kEvalModeNames, "student_calibrated")), s.loss);
  EXPECT_EQ(own.mismatch.at(0), s.loss - own.loss.at(label_index(kEvalModeNames, "teacher_topk")));
  EXPECT_NE(own.mismatch.at(0), 0);
}

TEST(ModeEvaluation, OtherWindowsThanThoseOfTheDefaultEvaluationGetAPassOfTheirOwn) {
  Setting s({});
  const ModeResults own = s.evaluated(false, false);
  const int batches = s.asked;

  expect_equal(s.evaluated(false, true), own);

  EXPECT_EQ(s.asked, batches);
  EXPECT_NE(own.loss.at(label_index(kEvalModeNames, "student_calibrated")), s.loss);
}

TEST(ModeEvaluation, SharesOfNoTokensAreUnknown) {
  RoutingOptions o;
  o.layers = {1, 2};
  EXPECT_TRUE(executed_shares({}, 0).empty());
  EXPECT_TRUE(std::isnan(dynamic_share(o, {})));
  EXPECT_TRUE(std::isnan(dynamic_share({}, {.5, .5})));
}

}  // namespace mode_evaluation_test
}  // namespace depthgrid
