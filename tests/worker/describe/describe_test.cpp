#include "worker/describe/describe.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/config/sweep.hpp"
#include "models/cost_model.hpp"
#include "sweeps/plan/structure_cost.hpp"
#include "sweeps/protocol/commands.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid::testing {
namespace describe_test {

CellPlan cell_of(const char* family, double capacity) {
  ValueMap leaves = {{"model.family", family},
                     {"model.d_model", 16},
                     {"model.n_layers", 4},
                     {"model.n_heads", 2},
                     {"data.corpus", "synthetic:markov"},
                     {"data.synthetic.vocab_size", 16},
                     {"data.seq_len", 8}};
  const std::string name = family;
  if (name != "standard") leaves.emplace_back("model." + name + ".capacity", capacity);
  CellPlan cell;
  cell.config = make_config(leaves);
  cell.structure = structure_key(cell.config);
  return cell;
}

TEST(Describe, OneAnswerTellsTheCostOfEveryCapacity) {
  for (const char* family : {"tdt", "mod"}) {
    const CellPlan full = cell_of(family, 1), quarter = cell_of(family, 0.25);
    ASSERT_EQ(full.structure, quarter.structure);
    const CostTable costs =
        parse_costs(describe(structure_request({&quarter, &full}, {{"times", false}})));
    ASSERT_EQ(costs.size(), 1U);
    const StructureCost& cost = costs.at(full.structure);

    const StudentFlops student = student_flops(model_options({&full.config}), 8, 8);
    EXPECT_DOUBLE_EQ(expected_flops(cost, full.config), student.at(1));
    EXPECT_DOUBLE_EQ(expected_flops(cost, quarter.config), student.at(0.25));
    EXPECT_DOUBLE_EQ(cost.flops_per_token, flops_per_token(model_options({&full.config}), 8, 8));
  }
}

TEST(Describe, AModelThatSkipsNothingHasNoStudent) {
  const CellPlan cell = cell_of("standard", 1);
  const CostTable costs = parse_costs(describe(structure_request({&cell}, {{"times", false}})));
  const StructureCost& cost = costs.at(cell.structure);

  EXPECT_FALSE(cost.student_flops.has_value());
  EXPECT_EQ(expected_flops(cost, cell.config), cost.flops_per_token);
}

TEST(Describe, TimesComeWithThoseOfTheProbesThatAreOn) {
  CellPlan cell;
  cell.config = make_config({{"model.d_model", 16},
                             {"model.n_layers", 2},
                             {"model.n_heads", 2},
                             {"data.corpus", "synthetic:markov"},
                             {"data.seq_len", 8},
                             {"train.steps", 200},
                             {"probes.gradients.schedule", "off"},
                             {"probes.trajectory.schedule", ValueMap{{"every", 100}}},
                             {"probes.trajectory.state_sequences", 2},
                             {"probes.trajectory.state_channels", 5},
                             {"probes.lyapunov.schedule", "end"},
                             {"probes.lyapunov.exponents", 2}});
  cell.structure = structure_key(cell.config);
  const CostTable costs = parse_costs(describe(structure_request({&cell}, {{"times", true}})));
  std::map<std::string, ProbeCost> probes;
  for (const ProbeCost& probe : costs.at(cell.structure).probes) probes[probe.name] = probe;
  ASSERT_TRUE(probes.contains("trajectory") && probes.contains("lyapunov"));
  EXPECT_FALSE(probes.contains("gradients")) << "it is off";
  EXPECT_FALSE(probes.contains("gates")) << "there are none";
  EXPECT_EQ(probes["trajectory"].measurements, 3);
  EXPECT_EQ(probes["lyapunov"].measurements, 1);
  EXPECT_EQ(probes["trajectory"].bytes, 3 * 2 * 8 * 5 * 2) << "states, sequences, tokens, channels";
  EXPECT_EQ(probes["lyapunov"].bytes, 0);
  for (const auto& [name, probe] : probes) {
    EXPECT_GT(probe.seconds, 0) << name;
    EXPECT_GT(probe.numbers, 0) << name;
  }
}

}  // namespace describe_test
}  // namespace depthgrid::testing
