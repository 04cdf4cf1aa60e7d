#include "core/probe/gates/gate_measures.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace gate_measures_test {

constexpr GateRange kSigmoid{0, 1};

/// (n, m) from rows.
at::Tensor gates(const std::vector<std::vector<double>>& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return at::tensor(all, at::kDouble).view({static_cast<std::int64_t>(rows.size()), -1});
}

TEST(GateMeasures, SummariseEachDepth) {
  const GateSummary out = gate_summary(gates({{0.2, 0.4, 0.6}, {0.01, 0.5, 0.99}}), kSigmoid);
  EXPECT_NEAR(out.mean[0], 0.4, 1e-15);
  EXPECT_NEAR(out.std[0], std::sqrt(0.08 / 3), 1e-15);
  EXPECT_EQ(out.min[0], 0.2);
  EXPECT_EQ(out.max[0], 0.6);
  EXPECT_EQ(out.saturation[0], 0);
  EXPECT_NEAR(out.saturation[1], 2.0 / 3, 1e-15);
}

TEST(GateMeasures, SaturationIsRelativeToTheRange) {
  const at::Tensor one = gates({{0.08, 1.0, 1.92, 1.85}});
  EXPECT_NEAR(gate_summary(one, {0, 2}).saturation[0], 0.5, 1e-15);
  EXPECT_TRUE(std::isnan(gate_summary(one, {kNaN, kNaN}).saturation[0])) << "a gate without range";
}

TEST(GateMeasures, ADepthWithoutGatesHasNoNumbers) {
  const at::Tensor some = gates({{kNaN, kNaN}, {0.25, 0.75}, {0.25, 0.75}});
  const GateSummary out = gate_summary(some, kSigmoid);
  EXPECT_TRUE(std::isnan(out.mean[0]) && std::isnan(out.saturation[0]));
  EXPECT_EQ(out.mean[1], 0.5);
  EXPECT_EQ(depth_variance_share(some), 0) << "the other depths are equal";
  EXPECT_TRUE(std::isnan(gate_histogram(some, kSigmoid, 4)[0]));
}

TEST(GateMeasures, AHistogramHasAllGatesOnce) {
  const std::vector<double> out = gate_histogram(gates({{0, 0.24, 0.26, 1}}), kSigmoid, 4);
  EXPECT_EQ(out, (std::vector<double>{0.5, 0.25, 0, 0.25})) << "the upper end is in the last bin";
  EXPECT_EQ(histogram_centres({0, 2}, 4), (std::vector<double>{0.25, 0.75, 1.25, 1.75}));
}

TEST(GateMeasures, VarianceOverDepthIsNoneAllOrTheShareThatWasPutIn) {
  EXPECT_EQ(depth_variance_share(gates({{0.1, 0.9}, {0.1, 0.9}})), 0);
  EXPECT_NEAR(depth_variance_share(gates({{0.1, 0.1}, {0.9, 0.9}})), 1, 1e-15);
  // Effects a of the depth and b of the entry add: a² / (a² + b²).
  const double a = 0.1, b = 0.3;
  EXPECT_NEAR(depth_variance_share(gates({{-a - b, -a + b}, {a - b, a + b}})),
              a * a / (a * a + b * b), 1e-14);
  EXPECT_TRUE(std::isnan(depth_variance_share(gates({{0.5, 0.5}, {0.5, 0.5}}))));
}

TEST(GateMeasures, TotalVariationOfACosineIsFourAmplitudesPerPeriod) {
  for (const int periods : {1, 3}) {
    std::vector<std::vector<double>> rows;
    constexpr int kPoints = 241;  // has every extremum
    for (int j = 0; j < kPoints; ++j) {
      const double tau = static_cast<double>(j) / (kPoints - 1);
      const double g = 0.5 + 0.2 * std::cos(2 * std::numbers::pi * periods * tau);
      rows.push_back({g, 0.5});
    }
    EXPECT_NEAR(total_variation(gates(rows)), 4 * 0.2 * periods / 2, 1e-12) << "mean of two";
  }
}

TEST(GateMeasures, PowerLiesAtTheFrequencyAndSumsToTheMeanSquare) {
  for (const std::size_t n : {63U, 64U}) {
    std::vector<double> wave;
    for (std::size_t j = 0; j < n; ++j) {
      const double tau = static_cast<double>(j) / static_cast<double>(n);
      wave.push_back(0.5 + 0.2 * std::sin(2 * std::numbers::pi * 5 * tau));
    }
    const std::vector<double> power = power_spectrum(wave);
    ASSERT_EQ(power.size(), n / 2 + 1);
    EXPECT_NEAR(power[0], 0.25, 1e-14);
    EXPECT_NEAR(power[5], 0.02, 1e-14);
    EXPECT_NEAR(power[4], 0, 1e-14);
    const at::Tensor noise = at::rand({static_cast<std::int64_t>(n)}, at::kDouble);
    const double* values = noise.const_data_ptr<double>();
    const std::vector<double> series(values, values + n);
    const std::vector<double> parts = power_spectrum(series);
    const double square = std::inner_product(series.begin(), series.end(), series.begin(), 0.0);
    EXPECT_NEAR(std::reduce(parts.begin(), parts.end()), square / static_cast<double>(n), 1e-13);
  }
}

}  // namespace gate_measures_test
}  // namespace depthgrid
