#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>

#include "models/model_factory.hpp"
#include "models/ops/host_kernels.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace fusion_test {

constexpr std::int64_t kSteps = 4;
constexpr std::int64_t kTokens = 9;
/// Root mean square over a cell's parameters; four steps of the smallest rate move them by 2e-3.
constexpr double kDeviceRounding = 1e-4;

/// Cells that differ in everything that may differ: rate, decay, Δt, capacity and seed.
struct Cells {
  std::vector<std::uint64_t> seeds = {11, 12, 13, 14};
  std::vector<double> lr = {1e-3, 3e-3, 1e-2, 5e-4};
  std::vector<double> decay = {0, 0.1, 0.01, 0.3};
  std::vector<double> scale = {1, 0.5, 1.0 / 3, 1.5};
  std::vector<double> capacity = {0.5, 0.25, 1, 0.75};
  std::vector<std::int64_t> dense_steps = {2, 0, 1, 4};
  std::vector<double> regulariser = {0.1, 0.03, 0, 0.3};
  std::vector<double> margin = {-1, 0, 0.5, -0.2};
};

template <class T>
std::vector<T> pick(const std::vector<T>& all, const std::vector<std::size_t>& rows) {
  std::vector<T> out;
  for (const std::size_t r : rows) out.push_back(all[r]);
  return out;
}

/// Trains some of the cells together; returns their parameters. @param poison  makes a cell's
/// parameters NaN before the first step; -1 = none.
at::Tensor train(const ModelCase& the_case, const std::vector<std::size_t>& rows, int poison = -1) {
  const Cells all;
  ModelOptions o = small_options(the_case.family, static_cast<std::int64_t>(rows.size()));
  o.residual.scale = pick(all.scale, rows);
  the_case.change(o);
  const bool masks = !o.routing.layers.empty() && !o.routing.gathered;  // the others have one k
  if (masks) o.routing.capacity = pick(all.capacity, rows);
  if (the_case.name == "tdt_dense_start") o.tdt.dense_steps = pick(all.dense_steps, rows);
  for (auto& term : o.regularisers.terms) term.weight = pick(all.regulariser, rows);
  o.regularisers.margin = pick(all.margin, rows);
  Built built(o, pick(all.seeds, rows));
  const TrainOptions t = small_training(pick(all.lr, rows), pick(all.decay, rows));
  CellOptimizer optimizer(*built.arena, t);
  CellLanguageModel model(*built.model, built.seeds);
  const std::vector<std::uint8_t> active(rows.size(), 1);  // the optimiser finds the NaN itself
  if (poison >= 0) built.arena->values().select(0, poison).fill_(std::nan(""));
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    at::Tensor windows = at::randint(0, o.vocabulary, {3, kTokens + 1},
                                     at::make_generator<at::CPUGeneratorImpl>(step), at::kLong);
    windows = windows.unsqueeze(0).expand({o.cells, 3, kTokens + 1});
    const at::Tensor loss = model.losses({windows, step}).total;
    loss.backward(at::full({o.cells}, 1.0 / (3 * kTokens)));
    optimizer.step(step, active);
  }
  return built.arena->values().clone();
}

class Fusion : public ::testing::TestWithParam<ModelCase> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
};

TEST_P(Fusion, FusedCellsAreBitwiseTheCellsAlone) {
  const at::Tensor fused = train(GetParam(), {0, 1, 2, 3});

  for (std::size_t e = 0; e < 4; ++e) {
    const at::Tensor together = fused[static_cast<std::int64_t>(e)];
    const at::Tensor alone = train(GetParam(), {e})[0];
    if (host_kernels_serve(fused)) {
      EXPECT_TRUE(at::equal(together, alone)) << "cell " << e;
    } else {  // LibTorch's operations promise rounding only, which Adam's first steps enlarge
      const double apart = (together - alone).square().mean().sqrt().item<double>();
      EXPECT_LT(apart, kDeviceRounding) << "cell " << e;
    }
  }
}

TEST_P(Fusion, NeighboursOfANaNCellKeepTheirBits) {
  const at::Tensor sound = train(GetParam(), {0, 1, 2});

  const at::Tensor poisoned = train(GetParam(), {0, 1, 2}, 1);

  EXPECT_TRUE(at::equal(sound[0], poisoned[0]));
  EXPECT_TRUE(at::equal(sound[2], poisoned[2]));
  EXPECT_TRUE(poisoned[1].isnan().all().item<bool>());
}

TEST_P(Fusion, TwoThreadsGiveTheBitsOfOne) {
  const at::Tensor one = train(GetParam(), {0, 1});
  at::set_num_threads(2);

  EXPECT_TRUE(at::equal(one, train(GetParam(), {0, 1})));
}

INSTANTIATE_TEST_SUITE_P(EveryOption, Fusion, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

TEST(Families, EveryRowOfTheTableIsAmongTheCases) {
  for (const FamilyEntry& family : families()) {
    EXPECT_TRUE(std::ranges::any_of(model_cases(), [&](const ModelCase& c) {
      return c.family == family.name;
    })) << family.name;
  }
}

}  // namespace fusion_test
}  // namespace depthgrid::testing
