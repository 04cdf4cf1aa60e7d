#include "core/config/sweep/observation.hpp"

#include <gtest/gtest.h>

#include "core/config/yaml/diagnostics.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace observation_test {

TEST(Observation, LeavesOfProbesAreSetAndNothingElseChanges) {
  const CellConfig cell = make_config({{"model.family", "time_indexed"}, {"model.d_model", 64}});
  const CellConfig other =
      with_observations(cell, {"probes.lyapunov.exponents=4", "probes.gates.schedule={every: 7}",
                               "probes.trajectory.token_classes=[all, rare]"});
  EXPECT_EQ(other.integer("probes.lyapunov.exponents"), 4);
  EXPECT_EQ(other.words("probes.trajectory.token_classes"),
            (std::vector<std::string>{"all", "rare"}));
  EXPECT_EQ(canonical_json(other.at("probes.gates.schedule")), R"({"every":7})");
  EXPECT_EQ(other.integer("model.d_model"), 64);
  EXPECT_EQ(cell_id(other), cell_id(cell));
}

std::string problems(const std::vector<std::string>& settings) {
  try {
    with_observations(CellConfig(), settings);
  } catch (const SweepErrors& errors) {
    return errors.what();
  }
  return "";
}

TEST(Observation, AllProblemsAreSaidAtOnce) {
  const std::string text = problems({"train.lr=1", "probes.lyapunov.exponent=4",
                                     "probes.lyapunov.exponents=400", "probes.gates.bins"});
  EXPECT_NE(text.find("`train.lr`"), std::string::npos) << text;
  EXPECT_NE(text.find("'probes.lyapunov.exponents'"), std::string::npos) << text;
  EXPECT_NE(text.find("64"), std::string::npos) << text;
  EXPECT_NE(text.find("key=value"), std::string::npos) << text;
  EXPECT_NE(text.find("4 errors"), std::string::npos) << text;
}

}  // namespace observation_test
}  // namespace depthgrid
