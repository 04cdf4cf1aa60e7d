#include "core/train/cell_optimizer.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "tests/support/host_kernels.hpp"
#include "tests/support/stepped_arena.hpp"

namespace depthgrid::testing {
namespace cell_optimizer_test {

class CellOptimizerTest
    : public ::testing::TestWithParam<std::tuple<const char*, NamedScope, bool>> {
 protected:
  SteppedArena stepped(bool by_kernels) const {
    const auto [word, scope, mixed] = GetParam();
    const TrainOptions options = stepping_options(word, scope.scope, 5);
    std::unique_ptr<DeviceKernels> kernels;
    if (by_kernels) {
      kernels = std::make_unique<HostKernels>(segment_table(stepping_layout(), options), word,
                                              scope.scope);
    }
    return {options, mixed, at::kCPU, std::move(kernels)};
  }
};

TEST_P(CellOptimizerTest, AStepByADevicesKernelsHasTheBitsOfAStepOnTheHost) {
  SteppedArena host = stepped(false), device = stepped(true);

  EXPECT_EQ(differences(host, device), std::vector<std::string>());
  EXPECT_EQ(host.arena.shadow().defined(), std::get<2>(GetParam()));
}

TEST_P(CellOptimizerTest, ANaNCellAndAnInactiveOneKeepTheirBits) {
  SteppedArena device = stepped(true);

  for (std::int64_t e = 0; e < 5; ++e) {
    const auto cell = static_cast<std::size_t>(e);
    EXPECT_EQ(same_bits(device.arena.values()[e], device.wave(0)[e]),
              is_nan_cell(cell) || is_inactive_cell(cell))
        << cell;
    EXPECT_EQ(device.reports.back().norms.nonfinite[cell], is_nan_cell(cell) ? 1 : 0);
  }
}

TEST_P(CellOptimizerTest, GroupsThatAreClippedApartHaveFactorsOfTheirOwn) {
  SteppedArena device = stepped(true);

  const std::vector<double>& factors = device.reports.back().norms.group_factor;
  const auto factor = [&](ParameterGroup group) {
    constexpr std::size_t kMuchClipped = 3;
    return factors[kMuchClipped * kParameterGroupCount + static_cast<std::size_t>(group)];
  };
  for (const ParameterGroup group :
       {ParameterGroup::Bias, ParameterGroup::Router, ParameterGroup::Predictor}) {
    EXPECT_EQ(factor(group) != factor(ParameterGroup::Trunk),
              std::get<1>(GetParam()).scope.by_itself(static_cast<std::size_t>(group)))
        << name_of(group);
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, CellOptimizerTest,
                         ::testing::Combine(::testing::Values("adam", "adamw"),
                                            ::testing::ValuesIn(kScopes), ::testing::Bool()),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) + "_" +
                                  std::get<1>(p.param).name +
                                  (std::get<2>(p.param) ? "_mixed" : "");
                         });

}  // namespace cell_optimizer_test
}  // namespace depthgrid::testing
