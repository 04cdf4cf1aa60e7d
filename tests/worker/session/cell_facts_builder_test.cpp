#include "worker/session/cell_facts_builder.hpp"

#include <array>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "storage/columns/dimensions.hpp"

namespace depthgrid::testing {
namespace cell_facts_builder_test {

CellConfig skipping_config() {
  return make_config({{"model.family", "tdt"},
                      {"model.d_model", 16},
                      {"model.n_layers", 4},
                      {"model.n_heads", 2},
                      {"data.corpus", "synthetic:markov"},
                      {"data.synthetic.vocab_size", 16},
                      {"data.seq_len", 8}});
}

/// Results of two cells of which the students have executed these shares, layer by layer.
ModeResults results(std::vector<double> student) {
  ModeResults out;
  out.loss.assign(2 * kEvalModeNames.size(), 1.5);
  out.executed.assign(out.loss.size(), 0.5);
  out.student = std::move(student);
  return out;
}

CellFacts facts_before() {
  CellFacts facts;
  facts.set("cost_flops_token", 90000);
  facts.set("cost_flops_token_executed", 70000);
  return facts;
}

TEST(CellFacts, AStudentThatWasNotEvaluatedLeavesItsCostAsExpected) {
  const CellConfig config = skipping_config();
  const FusedModel fused({&config, &config}, at::kCPU);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const ModeResults modes = results({0.25, 0.75, unknown, unknown});
  CellFacts facts = facts_before();

  set_modes(facts, modes, fused, 1, 8);
  EXPECT_EQ(facts.numbers.at("cost_flops_token_executed"), std::vector<double>{70000});
  EXPECT_EQ(facts.numbers.at("final_loss_mode"), std::vector<double>(kEvalModeNames.size(), 1.5));

  set_modes(facts, modes, fused, 0, 8);
  EXPECT_NE(facts.numbers.at("cost_flops_token_executed"), std::vector<double>{70000});
}

TEST(CellFacts, AStudentCostsWhatEachOfItsLayersHasExecuted) {
  const CellConfig config = skipping_config();
  const FusedModel fused({&config, &config}, at::kCPU);
  CellFacts facts = facts_before();

  set_modes(facts, results({0.5, 0.5, 0.25, 0.75}), fused, 1, 8);

  // Four blocks and the head, two of the blocks with routers in front.
  const double products = 24 * 16 * 16, attention = 4 * 8 * 16, router = 4 * 16;
  const double executed = 2 * (products + attention) + 2 * 16 * 16 + 2 * router +
                          (0.25 + 0.75) * products + (0.0625 + 0.5625) * attention;
  ASSERT_EQ(facts.numbers.at("cost_flops_token_executed").size(), 1U);
  EXPECT_DOUBLE_EQ(facts.numbers.at("cost_flops_token_executed").front(), executed);
}

TEST(CellFacts, FrozenGroupsAndAveragesAreStoredButNotTrained) {
  ParameterLayout layout;
  layout.parameter({.name = "a", .shape = {10}, .group = ParameterGroup::Trunk});
  layout.parameter({.name = "b", .shape = {4}, .group = ParameterGroup::Head});
  layout.parameter(
      {.name = "c", .shape = {1}, .group = ParameterGroup::Trunk, .init = {}, .average = true});
  std::array<bool, kParameterGroupCount> frozen{};
  EXPECT_EQ(layout.size(), 15);
  EXPECT_EQ(layout.parameters(), 14);
  EXPECT_EQ(trainable_parameters(layout, frozen), 14);
  frozen[static_cast<std::size_t>(ParameterGroup::Head)] = true;
  EXPECT_EQ(trainable_parameters(layout, frozen), 10);
}

}  // namespace cell_facts_builder_test
}  // namespace depthgrid::testing
