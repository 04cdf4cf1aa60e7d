#include "core/train/optimizer/layer_squares.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>

#include "core/base/nan.hpp"
#include "tests/support/host_kernels.hpp"

namespace depthgrid::testing {
namespace layer_squares_test {

/// Two layers apart, with a frozen norm, an average and an embedding of no layer between them.
ParameterLayout layout() {
  ParameterLayout out;
  const auto add = [&](const char* name, std::int64_t count, ParameterGroup group, bool average) {
    out.parameter({.name = name, .shape = {count}, .group = group, .average = average});
  };
  add("embedding", 700, ParameterGroup::Embedding, false);
  add("0.weight", 3000, ParameterGroup::Trunk, false);
  add("1.weight", 2500, ParameterGroup::Trunk, false);
  add("0.norm", 40, ParameterGroup::Norm, false);
  add("0.bias", 33, ParameterGroup::Bias, false);
  add("1.average", 5, ParameterGroup::Scalars, true);
  add("1.more", 100, ParameterGroup::Trunk, false);
  return out;
}

LayerSquares squares() {
  std::array<bool, kParameterGroupCount> frozen{};
  frozen[static_cast<std::size_t>(ParameterGroup::Norm)] = true;
  return {layout(), frozen, 3, [](const std::string& name) -> std::optional<std::int64_t> {
            if (name == "embedding") return std::nullopt;
            return name.starts_with("0.") ? 0 : 1;
          }};
}

/// Factors by which cells are clipped, those of biases another.
GradientNorms clip(std::size_t cells) {
  GradientNorms out;
  out.group_factor.assign(cells * kParameterGroupCount, 0.5);
  for (std::size_t e = 0; e < cells; ++e) {
    out.group_factor[e * kParameterGroupCount + static_cast<std::size_t>(ParameterGroup::Bias)] =
        0.25;
  }
  return out;
}

double norm_of(const at::Tensor& x) {
  return std::sqrt(x.to(at::kDouble).square().sum().item<double>());
}

TEST(LayerSquares, AreTheNormsOfTheTrainedParametersOfEachLayer) {
  LayerSquares of = squares();
  const at::Tensor g = at::randn({2, layout().size()}, at::kFloat);
  of.read(g);
  const LayerNorms norms = of.norms(clip(2), {1, 8});
  ASSERT_EQ(norms.norm.size(), 6U);
  const at::Tensor row = g[1];
  const at::Tensor zero = at::cat({row.narrow(0, 700, 3000), row.narrow(0, 6240, 33)});
  const at::Tensor one = at::cat({row.narrow(0, 3700, 2500), row.narrow(0, 6278, 100)});
  EXPECT_NEAR(norms.norm[3], norm_of(zero) / 8, 1e-6);
  EXPECT_NEAR(norms.norm[4], norm_of(one) / 8, 1e-6);
  EXPECT_NEAR(norms.norm_clipped[4], norms.norm[4] / 2, 1e-12);
  const at::Tensor clipped = at::cat({zero.narrow(0, 0, 3000) / 2, zero.narrow(0, 3000, 33) / 4});
  EXPECT_NEAR(norms.norm_clipped[3], norm_of(clipped) / 8, 1e-6);
  EXPECT_TRUE(std::isnan(norms.norm[2]) && std::isnan(norms.norm_clipped[5]))
      << "a layer without trained parameters";
}

TEST(LayerSquares, ACellHasItsBitsAloneAndBesideOneThatDiverged) {
  LayerSquares fused = squares(), alone = squares();
  at::Tensor g = at::randn({3, layout().size()}, at::kFloat);
  g[0].fill_(kNaN);
  fused.read(g);
  alone.read(g.narrow(0, 2, 1).clone());
  const LayerNorms three = fused.norms(clip(3), {1, 1, 1}), one = alone.norms(clip(1), {1});
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(three.norm[6 + l], one.norm[l]);
    EXPECT_EQ(three.norm_clipped[6 + l], one.norm_clipped[l]);
    EXPECT_TRUE(std::isnan(three.norm[l]));
  }
}

/// Another number of rows needs workspace of another size.
TEST(LayerSquares, ADevicesKernelsGetTheSameBlocks) {
  LayerSquares host = squares(), device = squares();
  const std::vector<Segment> one = {{.offset = 0, .count = layout().size()}};
  HostKernels kernels(SegmentTable(layout().size(), one), "adam", ClipScope::Global);
  for (const std::int64_t cells : {1, 3}) {
    const at::Tensor g = at::randn({cells, layout().size()}, at::kFloat);
    host.read(g);
    device.read(g, &kernels);
    const std::vector<double> scale(static_cast<std::size_t>(cells), 1);
    const GradientNorms factors = clip(scale.size());
    const std::vector<double> want = host.norms(factors, scale).norm;
    const std::vector<double> have = device.norms(factors, scale).norm;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (i % 3 == 2) continue;  // a layer without trained parameters
      EXPECT_EQ(have[i], want[i]) << cells << " cells, number " << i;
    }
  }
}

}  // namespace layer_squares_test
}  // namespace depthgrid::testing
