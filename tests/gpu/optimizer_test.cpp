#include <mutex>
#include <tuple>

#include <gtest/gtest.h>

#include "core/train/optimizer/layer_squares.hpp"
#include "tests/gpu/gpu_case.hpp"
#include "tests/support/stepped_arena.hpp"
#include "tests/support/thread_team.hpp"

namespace depthgrid::testing {
namespace optimizer_test {

class OptimizerOnGpu
    : public GpuTest,
      public ::testing::WithParamInterface<std::tuple<const char*, NamedScope, bool>> {
 protected:
  SteppedArena stepped(std::size_t cells, bool on_device) const {
    const auto [word, scope, mixed] = GetParam();
    const TrainOptions options = stepping_options(word, scope.scope, cells);
    if (!on_device) return {options, mixed, at::kCPU, nullptr};
    return {options, mixed, device_,
            kernels(segment_table(stepping_layout(), options), word, scope.scope, options.cells)};
  }
};

TEST_P(OptimizerOnGpu, HasTheBitsOfTheHost) {
  for (const std::size_t cells : {1U, 7U, 32U}) {
    SteppedArena host = stepped(cells, false), device = stepped(cells, true);
    EXPECT_EQ(differences(host, device), std::vector<std::string>()) << cells << " cells";
  }
}

TEST_P(OptimizerOnGpu, ACellsBitsDoNotDependOnItsNeighbours) {
  SteppedArena few = stepped(1, true), many = stepped(32, true);
  EXPECT_TRUE(same_bits(few.arena.values()[0], many.arena.values()[0]));
  for (std::int64_t e = 0; e < 32; ++e) {
    const auto cell = static_cast<std::size_t>(e);
    EXPECT_EQ(same_bits(many.arena.values()[e], many.wave(0)[e]),
              is_nan_cell(cell) || is_inactive_cell(cell))
        << "cell " << e;
  }
}

TEST_P(OptimizerOnGpu, MomentsDividedAmongRanksGiveTheSameParameters) {
  const auto [word, scope, mixed] = GetParam();
  const TrainOptions options = stepping_options(word, scope.scope, 5);
  SteppedArena whole = stepped(5, true);
  ThreadTeam team(2);
  std::mutex one_at_a_time;
  team.run([&](GradientSync& sync) {
    SteppedArena mine(options, mixed, device_,
                      kernels(segment_table(stepping_layout(), options), word, scope.scope, 5),
                      {&sync, true});
    const std::lock_guard lock(one_at_a_time);
    EXPECT_TRUE(same_bits(mine.arena.values(), whole.arena.values())) << sync.rank();
  });
}

class LayersOnGpu : public GpuTest {};

TEST_F(LayersOnGpu, NormsOfTheirGradientsHaveTheBitsOfTheHost) {
  const ParameterLayout layout = stepping_layout();
  for (const std::int64_t cells : {1, 32}) {
    const TrainOptions options =
        stepping_options("adam", ClipScope::Global, static_cast<std::size_t>(cells));
    LayerSquares on_host(layout, options.frozen, 2, [](const std::string& name) {
      return std::optional<std::int64_t>(name == "weight" || name == "bias" ? 0 : 1);
    });
    LayerSquares on_device = on_host;
    const auto own = kernels(segment_table(layout, options), "adam", ClipScope::Global, cells);
    const at::Tensor gradients = torch::randn({cells, layout.size()});
    on_host.read(gradients);
    on_device.read(gradients.to(device_), own.get());
    GradientNorms clip;
    clip.group_factor.assign(static_cast<std::size_t>(cells) * kParameterGroupCount, 0.5);
    EXPECT_EQ(on_device.norms(clip, options.loss_scale).norm,
              on_host.norms(clip, options.loss_scale).norm)
        << cells << " cells";
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, OptimizerOnGpu,
                         ::testing::Combine(::testing::Values("adam", "adamw"),
                                            ::testing::ValuesIn(kScopes), ::testing::Bool()),
                         [](const auto& p) {
                           return std::string(std::get<0>(p.param)) + "_" +
                                  std::get<1>(p.param).name +
                                  (std::get<2>(p.param) ? "_mixed" : "");
                         });

}  // namespace optimizer_test
}  // namespace depthgrid::testing
