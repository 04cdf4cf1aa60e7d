#include "models/blocks/weight_gates.hpp"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/stack.h>

#include "core/train/optimizer/arena.hpp"
#include "models/blocks/time_features.hpp"

namespace depthgrid {
namespace weight_gates_test {

/// Gates of `up` at the six layers of the first study's model before training, (E, L, n).
at::Tensor up_gates(const std::vector<ValueMap>& cells) {
  std::vector<CellConfig> configs;
  for (ValueMap leaves : cells) {
    leaves.emplace_back("model.family", "time_indexed");
    leaves.emplace_back("model.d_model", 128);
    configs.push_back(make_config(leaves));
  }
  std::vector<const CellConfig*> pointers;
  for (const CellConfig& c : configs) pointers.push_back(&c);
  const ModelOptions o = model_options(pointers);
  ParameterLayout layout;
  WeightGates(layout, o, "modulation");
  Arena arena(layout, std::vector<std::uint64_t>(cells.size(), 7), at::kFloat);
  const WeightGates gates(arena, o, "modulation");
  const at::Tensor t = (at::arange(1, 7, at::kFloat) / 6).expand({o.cells, 6});
  std::vector<at::Tensor> each;
  for (const WeightGates::AtNode& node : gates.evaluate(o, time_features(o.time, t))) {
    each.push_back(node.up.squeeze(-1));
  }
  return at::stack(each, 1);
}

/// Standard deviation over depth, averaged over the gates of each cell.
std::vector<double> spread(const at::Tensor& gates) {
  const at::Tensor s = gates.to(at::kDouble).std(1, /*unbiased=*/false).mean(1);
  return {s.const_data_ptr<double>(), s.const_data_ptr<double>() + s.numel()};
}

TEST(WeightGates, StartNearlyEqualOverDepthUnlessTheGainSpreadsThem) {
  const auto gain = [](double g) { return ValueMap{{"model.modulation.init_gain", g}}; };
  const at::Tensor gates = up_gates({{}, gain(10), gain(100), gain(1e-12)});
  const std::vector<double> s = spread(gates);
  RecordProperty("spread_at_gain_1", std::to_string(s[0]));
  RecordProperty("spread_at_gain_10", std::to_string(s[1]));
  RecordProperty("spread_at_gain_100", std::to_string(s[2]));

  EXPECT_LT(s[0], 0.003);
  EXPECT_NEAR(s[1] / s[0], 10, 0.2);
  EXPECT_GT(s[2], 0.05);
  EXPECT_TRUE(at::equal(gates[3], at::full_like(gates[3], 0.5)));
}

TEST(WeightGates, AConstantGateIsItsValueInEveryLayer) {
  const at::Tensor half =
      up_gates({{{"model.modulation.gate", "constant"}, {"model.modulation.value", 0.5}}});

  EXPECT_TRUE(at::equal(half, at::full_like(half, 0.5)));
}

}  // namespace weight_gates_test
}  // namespace depthgrid
