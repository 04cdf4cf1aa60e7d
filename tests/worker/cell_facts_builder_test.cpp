#include "worker/cell_facts_builder.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "storage/dimensions.hpp"

namespace depthgrid::testing {
namespace {

CellConfig skipping_config() {
  return make_config({{"model.family", "tdt"},
                      {"model.d_model", 16},
                      {"model.n_layers", 4},
                      {"model.n_heads", 2},
                      {"data.corpus", "synthetic:markov"},
                      {"data.synthetic.vocab_size", 16},
                      {"data.seq_len", 8}});
}

/// Results of cells of which the students have executed these shares.
ModeResults results(std::vector<double> student) {
  ModeResults out;
  out.loss.assign(student.size() * eval_mode_names().size(), 1.5);
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
  const ModeResults modes = results({0.25, std::numeric_limits<double>::quiet_NaN()});
  CellFacts facts = facts_before();

  set_modes(facts, modes, fused, 1);
  EXPECT_EQ(facts.numbers.at("cost_flops_token_executed"), std::vector<double>{70000});
  EXPECT_EQ(facts.numbers.at("final_loss_mode"),
            std::vector<double>(eval_mode_names().size(), 1.5));

  set_modes(facts, modes, fused, 0);
  EXPECT_NE(facts.numbers.at("cost_flops_token_executed"), std::vector<double>{70000});
}

}  // namespace
}  // namespace depthgrid::testing
