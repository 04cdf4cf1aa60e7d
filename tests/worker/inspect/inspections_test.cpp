// What `check forward`, `decode` and `gradcheck` answer, below the command line.
#include "worker/inspect/inspections.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>

#include "core/config/cell_config.hpp"
#include "worker/inspect/inspect_model.hpp"

namespace depthgrid::testing {
namespace inspections_test {

/// A small untrained model with more leaves than these.
CheckSubject subject_of(const ValueMap& more) {
  ValueMap leaves = {{"data.corpus", "synthetic:markov"},
                     {"data.synthetic.vocab_size", 16},
                     {"data.seq_len", 8},
                     {"model.d_model", 16},
                     {"model.n_heads", 2}};
  leaves.insert(leaves.end(), more.begin(), more.end());
  return CheckSubject(CheckCell{"small", make_config(leaves)});
}

/// A member of an answer, or null pointer.
const CheckReport::Value* member(const CheckReport& report, std::string_view name) {
  for (const auto& [key, value] : report.members()) {
    if (key == name) return &value;
  }
  return nullptr;
}

/// The answer's row about a group of parameters.
const CheckReport& group_of(const CheckReport& report, const std::string& name) {
  for (const CheckReport& row : std::get<std::vector<CheckReport>>(*member(report, "groups"))) {
    if (std::get<std::string>(*member(row, "group")) == name) return row;
  }
  throw std::runtime_error("no group " + name);
}

using Words = std::vector<std::string>;

const ValueMap kLayerRms = {
    {"model.family", "tdt"}, {"model.n_layers", 2}, {"model.tdt.surprise_norm", "layer_rms"}};

TEST(CheckGradients, ATermThatOnlyObservesIsNotComparedAndAnAverageNotMissed) {
  CheckSubject subject = subject_of(kLayerRms);
  CheckCase c;
  c.samples = 1;
  const CheckReport report = inspect_gradients(subject, c);

  EXPECT_TRUE(std::get<bool>(*member(report, "pass"))) << report.json();
  const CheckReport& scalars = group_of(report, "scalars");
  EXPECT_EQ(std::get<Words>(*member(scalars, "terms")), Words{"language"});
  EXPECT_EQ(std::get<Words>(*member(scalars, "unreached")), Words{"layers.1.gate.d_st_mean"});
}

TEST(CheckGradients, ADenseStartIsNotWhatIsLookedAt) {
  CheckSubject subject = subject_of(
      {{"model.family", "tdt"}, {"model.n_layers", 2}, {"model.tdt.dense_fraction", 0.5}});
  CheckCase c;
  c.samples = 1;
  const CheckReport report = inspect_gradients(subject, c);

  EXPECT_TRUE(std::get<bool>(*member(report, "pass"))) << report.json();
  EXPECT_EQ(std::get<Words>(*member(group_of(report, "scalars"), "terms")), Words{"language"});
}

TEST(CheckForward, ATermThatOnlyObservesIsNoLoss) {
  CheckSubject subject = subject_of(kLayerRms);
  CheckCase c;
  c.mode = std::string(kTrainingMode);
  const CheckReport report = inspect_forward(subject, c);

  ASSERT_NE(member(report, "loss_tpn"), nullptr);
  EXPECT_GT(std::get<double>(*member(report, "loss_tpn")), 0);
  EXPECT_NE(member(report, "loss_causal"), nullptr);
  EXPECT_EQ(member(report, "loss_level"), nullptr);
}

struct FlowCase {
  std::string name;
  ValueMap leaves;
  std::int64_t steps;                   // of the whole depth
  std::vector<std::int64_t> attending;  // those of them that keep keys and values
};

class CheckDecode : public ::testing::TestWithParam<FlowCase> {};

TEST_P(CheckDecode, HasARowForEveryDepthStepOfAFlow) {
  ValueMap leaves = {{"model.family", "hybrid_ode"}, {"model.n_layers", 4}};
  leaves.insert(leaves.end(), GetParam().leaves.begin(), GetParam().leaves.end());
  CheckSubject subject = subject_of(leaves);
  CheckCase c;
  c.rows = 3;
  c.prefill = 5;
  c.dtype = CheckDtype::F64;
  const CheckReport report = inspect_decode(subject, c);

  EXPECT_LE(std::get<double>(*member(report, "difference")), 1e-9);
  EXPECT_EQ(std::get<double>(*member(report, "argmax_agreement")), 1.0);
  const CheckReport::Value* const lengths = member(report, "kv_lengths");
  ASSERT_NE(lengths, nullptr);
  const auto& kept = std::get<at::Tensor>(*lengths);
  ASSERT_EQ(kept.sizes(), (std::vector<std::int64_t>{GetParam().steps, 3}));
  for (std::int64_t i = 0; i < GetParam().steps; ++i) {
    const bool attends = std::ranges::find(GetParam().attending, i) != GetParam().attending.end();
    EXPECT_EQ(kept[i].min().item<std::int64_t>(), attends ? 8 : 0) << i;
    EXPECT_EQ(kept[i].max().item<std::int64_t>(), attends ? 8 : 0) << i;
  }
}

const ValueMap kFewSteps = {{"model.replaced_layers", ValueList{1, 3}}, {"model.solver.steps", 1}};
const ValueMap kRows = {{"model.field.kind", "mlp"}, {"model.solver.steps", 2}};
const ValueMap kRowsTwice = {{"model.field.kind", "mlp"}, {"model.solver.method", "midpoint"}};

INSTANTIATE_TEST_SUITE_P(
    Flows, CheckDecode,
    ::testing::Values(
        FlowCase{"longer_than_its_layers", {}, 7, {0, 1, 2, 3, 4, 5, 6}},
        FlowCase{"shorter_than_its_layers", kFewSteps, 3, {0, 1, 2}},
        FlowCase{"without_attention", kRows, 5, {0, 3, 4}},
        FlowCase{"of_two_stages", {{"model.solver.method", "midpoint"}}, 7, {0, 1, 2, 3, 4, 5, 6}},
        FlowCase{"of_two_stages_without_attention", kRowsTwice, 7, {0, 5, 6}}),
    [](const auto& p) { return p.param.name; });

TEST(CheckForward, HasTheStateInFrontOfEveryStepOfAFlow) {
  CheckSubject subject = subject_of(
      {{"model.family", "hybrid_ode"}, {"model.n_layers", 4}, {"model.solver.method", "midpoint"}});
  CheckCase c;
  c.dump = true;
  const CheckReport report = inspect_forward(subject, c);

  const auto& states = std::get<at::Tensor>(*member(report, "states"));
  EXPECT_EQ(states.sizes(), (std::vector<std::int64_t>{8, 2, 8, 16}));
}

}  // namespace inspections_test
}  // namespace depthgrid::testing
