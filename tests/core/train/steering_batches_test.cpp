// Pairs of rows of one prompt under both signs, and that nothing but (seed, step, row) decides
// them.
#include "core/train/steering_batches.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace steering_batches_test {

/// Five prompts of one to three tokens on two axes; the first token is ten times its number.
std::vector<SteeringTokens> five() {
  return {{.axis = 0, .prompt = {10}, .positive = {1}, .negative = {2, 3}},
          {.axis = 1, .prompt = {20, 7}, .positive = {4, 5, 6}, .negative = {8}},
          {.axis = 0, .prompt = {30, 7, 9}, .positive = {1}, .negative = {2}},
          {.axis = 1, .prompt = {40, 7}, .positive = {4}, .negative = {8}},
          {.axis = 0, .prompt = {50}, .positive = {1}, .negative = {2}}};
}

SteeringBatches of_seeds(const std::vector<std::uint64_t>& seeds, std::int64_t batch = 4,
                         const std::vector<std::int64_t>& first_steps = {}) {
  return {five(), 2, batch, seeds, first_steps};
}

std::int64_t number(const at::Tensor& tensor) {
  return tensor.item<std::int64_t>();
}

/// Numbers of the prompts of the rows of one cell.
std::vector<std::int64_t> prompts_of(const Batch& batch, std::int64_t cell = 0) {
  std::vector<std::int64_t> out;
  for (std::int64_t r = 0; r < batch.windows.size(1); ++r) {
    out.push_back(number(batch.windows[cell][r][0]) / 10 - 1);
  }
  return out;
}

TEST(SteeringBatches, HaveARowForEachSignOfAPrompt) {
  const SteeringBatches batches = of_seeds({3, 3});
  const std::vector<SteeringTokens> prompts = five();
  EXPECT_EQ(batches.tokens(), 1);
  EXPECT_EQ(batches.prompt_tokens(), 3);

  for (std::int64_t step = 1; step <= 5; ++step) {
    const Batch batch = batches.batch(step, 0, 4);

    ASSERT_EQ(batch.windows.sizes(), (at::IntArrayRef{2, 4, 4}));
    ASSERT_EQ(batch.control.u.sizes(), (at::IntArrayRef{2, 4, 1, 2}));
    ASSERT_EQ(batch.answers.place.sizes(), (at::IntArrayRef{2, 4}));
    ASSERT_EQ(batch.answers.wanted.sizes(), (at::IntArrayRef{2, 4, 3}));
    EXPECT_EQ(batch.step, step);
    const std::vector<std::int64_t> rows = prompts_of(batch, 1);
    for (std::int64_t r = 0; r < 4; ++r) {
      const SteeringTokens& one =
          prompts[static_cast<std::size_t>(rows[static_cast<std::size_t>(r)])];
      const auto length = std::ssize(one.prompt);
      for (std::int64_t t = 0; t < 4; ++t) {
        EXPECT_EQ(number(batch.windows[1][r][t]),
                  t < length ? one.prompt[static_cast<std::size_t>(t)] : 0);
      }
      EXPECT_EQ(number(batch.answers.place[1][r]), length - 1);
      const bool plus = r % 2 == 0;
      const auto& set = plus ? one.positive : one.negative;
      for (std::int64_t s = 0; s < 3; ++s) {
        EXPECT_EQ(number(batch.answers.wanted[1][r][s]),
                  s < std::ssize(set) ? set[static_cast<std::size_t>(s)] : std::int64_t{-1});
      }
      for (std::int64_t k = 0; k < 2; ++k) {
        const double own = plus ? 1 : -1;
        EXPECT_EQ(batch.control.u[1][r][0][k].item<double>(),
                  k == static_cast<std::int64_t>(one.axis) ? own : 0);
      }
    }
    EXPECT_EQ(rows[0], rows[1]);
    EXPECT_EQ(rows[2], rows[3]);
  }
}

TEST(SteeringBatches, AnEpochHasEachPromptOnceAndTheNextOneAnotherOrder) {
  const SteeringBatches batches = of_seeds({3}, 2);
  std::set<std::vector<std::int64_t>> orders;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 1; i <= 5; ++i) {
      order.push_back(prompts_of(batches.batch(5 * epoch + i, 0, 2))[0]);
    }
    EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), 5U) << epoch;
    orders.insert(order);
  }
  EXPECT_GE(orders.size(), 12U);  // of 120 possible ones
}

TEST(SteeringBatches, EveryPromptComesFirstAlikeOften) {
  const SteeringBatches batches = of_seeds({8}, 2);
  std::map<std::int64_t, int> first;
  for (std::int64_t epoch = 0; epoch < 2000; ++epoch) {
    ++first[prompts_of(batches.batch(5 * epoch + 1, 0, 2))[0]];
  }
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(first[i], 400, 90) << i;  // 5 deviations
}

TEST(SteeringBatches, AStepMayHoldMoreThanAnEpoch) {
  const std::vector<std::int64_t> rows = prompts_of(of_seeds({3}, 14).batch(1, 0, 14));
  std::set<std::int64_t> seen;
  for (std::size_t r = 0; r < 10; r += 2) seen.insert(rows[r]);
  EXPECT_EQ(seen.size(), 5U);
  const SteeringBatches single({five()[0]}, 2, 4, {3});
  EXPECT_EQ(prompts_of(single.batch(7, 0, 4)), (std::vector<std::int64_t>{0, 0, 0, 0}));
}

TEST(SteeringBatches, ArePiecesOfTheGlobalBatch) {
  const SteeringBatches batches = of_seeds({3, 4}, 8);
  const Batch whole = batches.batch(6, 0, 8), piece = batches.batch(6, 3, 2);

  EXPECT_EQ(piece.first_row, 3);
  EXPECT_TRUE(at::equal(piece.windows, whole.windows.narrow(1, 3, 2)));
  EXPECT_TRUE(at::equal(piece.control.u, whole.control.u.narrow(1, 3, 2)));
  EXPECT_TRUE(at::equal(piece.answers.place, whole.answers.place.narrow(1, 3, 2)));
  EXPECT_TRUE(at::equal(piece.answers.wanted, whole.answers.wanted.narrow(1, 3, 2)));
  EXPECT_THROW(batches.batch(6, 7, 2), Error);
  EXPECT_THROW(batches.batch(0, 0, 8), Error);
}

TEST(SteeringBatches, CellsWithOneSeedShareTheirRowsAndOthersHaveTheirOwn) {
  const Batch shared = of_seeds({3, 3}, 20).batch(2, 0, 20);
  const Batch own = of_seeds({3, 4}, 20).batch(2, 0, 20);

  EXPECT_EQ(shared.windows.stride(0), 0);
  EXPECT_EQ(shared.answers.wanted.stride(0), 0);
  EXPECT_TRUE(at::equal(own.windows[0], shared.windows[0]));
  EXPECT_NE(prompts_of(own, 1), prompts_of(own, 0));
  EXPECT_TRUE(at::equal(own.windows[1], of_seeds({4}, 20).batch(2, 0, 20).windows[0]));
}

TEST(SteeringBatches, FirstStepsArePassedOverByEachCell) {
  const Batch late = of_seeds({3, 3}, 4, {0, 7}).batch(2, 0, 4);

  EXPECT_TRUE(at::equal(late.windows[0], of_seeds({3}).batch(2, 0, 4).windows[0]));
  EXPECT_TRUE(at::equal(late.windows[1], of_seeds({3}).batch(9, 0, 4).windows[0]));
  EXPECT_TRUE(at::equal(late.control.u[1], of_seeds({3}).batch(9, 0, 4).control.u[0]));
}

TEST(SteeringBatches, RefuseWhatIsNotToBeTrainedOn) {
  std::vector<SteeringTokens> heldout = five();
  heldout[3].heldout = true;
  EXPECT_THROW(SteeringBatches(heldout, 2, 4, {3}), Error);
  EXPECT_THROW(SteeringBatches(five(), 1, 4, {3}), Error) << "axis 1 of one";
  EXPECT_THROW(SteeringBatches(five(), 2, 3, {3}), Error);
  EXPECT_THROW(SteeringBatches({}, 2, 4, {3}), Error);
}

}  // namespace steering_batches_test
}  // namespace depthgrid
