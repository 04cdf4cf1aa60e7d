#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include "core/train/gradient_buckets.hpp"
#include "distributed/bucket_sync.hpp"
#include "tests/support/thread_group.hpp"

namespace depthgrid::testing {
namespace bucket_rows_test {

/// A group of two that sends nothing: counts what it is asked to send, and keeps the largest.
class CountedGroup final : public Collective {
 public:
  std::int64_t sent = 0, waits = 0, most_elements = 0;

  std::string_view name() const noexcept override { return "counted"; }
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 2; }
  void all_reduce(at::Tensor& x, ReduceOp) override { count(x); }
  void broadcast(at::Tensor& x, int) override { count(x); }
  void all_gather_into(at::Tensor& all, const at::Tensor&) override { count(all); }
  void all_to_all(at::Tensor& theirs, const at::Tensor& mine) override {
    count(mine);
    theirs.copy_(mine);
  }
  std::unique_ptr<Collective> split(int, int) override { return nullptr; }
  void barrier() override {}
  void wait(std::chrono::milliseconds) override { ++waits; }

 private:
  void count(const at::Tensor& x) {
    ++sent;
    most_elements = std::max(most_elements, x.numel());
  }
};

/// Collectives of one step's sums for `cells` cells whose eight parameters are a bucket each.
std::int64_t sent_in_a_step(std::int64_t cells) {
  ParameterLayout layout;
  std::vector<ParameterSpec> parameters;
  for (int i = 0; i < 8; ++i) {
    parameters.push_back({.name = "weight" + std::to_string(i), .shape = {4}});
    layout.parameter(parameters.back());
  }
  Arena arena(layout, std::vector<std::uint64_t>(static_cast<std::size_t>(cells), 1), at::kFloat);
  for (const ParameterSpec& parameter : parameters) arena.parameter(parameter);
  CountedGroup group;
  BucketSync sync(group, group);
  GradientBuckets buckets(arena, sync, 1);
  EXPECT_EQ(buckets.size(), 8);

  buckets.arm();
  buckets.finish();

  EXPECT_EQ(group.waits, 1);
  return group.sent;
}

TEST(BucketRows, AStepSendsAsOftenForManyCellsAsForOne) {
  EXPECT_EQ(sent_in_a_step(1), 2 * 8);
  EXPECT_EQ(sent_in_a_step(32), 2 * 8);
}

TEST(BucketRows, AMatrixLargerThanTheWorkspaceIsSentInPiecesOfHalfOfIt) {
  CountedGroup group;
  BucketSync sync(group, group, 400);
  at::Tensor arena = at::zeros({4, 102});

  sync.begin_sum(arena.narrow(1, 1, 100));
  sync.finish_sums();

  EXPECT_EQ(group.most_elements, 4 * 12) << "200 bytes are 12 columns of 4 cells";
  EXPECT_EQ(group.sent, 2 * 9);
}

struct Rows {
  int ranks;
  std::int64_t cells;
};

/// (E, n + 3) gradients of one rank, of many magnitudes, so that the order of a sum shows in its
/// bits. All but the first and the last two columns are summed.
at::Tensor gradients_of(int rank, std::int64_t cells, std::int64_t n) {
  const at::Tensor i = at::arange(cells * (n + 3), at::kFloat).view({cells, n + 3});
  return ((i * (rank + 1)).sin() * (i * 0.37 + rank).cos().exp() * 1e3).contiguous();
}

class BucketRowsOf : public ::testing::TestWithParam<Rows> {};

TEST_P(BucketRowsOf, HaveTheBitsOfOneRankThatAccumulatesAndLeaveTheirNeighbours) {
  const auto [ranks, cells] = GetParam();
  for (const std::int64_t n : {1, 5, 1001}) {
    at::Tensor sum = gradients_of(0, cells, n).narrow(1, 1, n).clone();
    for (int r = 1; r < ranks; ++r) sum.add_(gradients_of(r, cells, n).narrow(1, 1, n));
    ThreadGroup threads(ranks);
    const auto problems = threads.run([&, cells = cells](Collective& group) {
      for (const std::int64_t bytes : {std::int64_t{256}, BucketSync::kBucketBytes}) {
        for (const bool beside : {false, true}) {
          BucketSync sync(group, group, bytes, beside);
          at::Tensor mine = gradients_of(group.rank(), cells, n);
          at::Tensor expected = mine.clone();
          expected.narrow(1, 1, n).copy_(sum);

          sync.begin_sum(mine.narrow(1, 1, n));
          sync.finish_sums();

          EXPECT_TRUE(at::equal(mine, expected)) << n << " columns, " << bytes << ", " << beside;
        }
      }
    });
    for (const std::string& problem : problems) EXPECT_EQ(problem, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, BucketRowsOf,
                         ::testing::Values(Rows{2, 1}, Rows{2, 8}, Rows{3, 1}, Rows{3, 8},
                                           Rows{4, 1}, Rows{4, 8}),
                         [](const auto& p) {
                           return std::to_string(p.param.ranks) + "_ranks_" +
                                  std::to_string(p.param.cells) + "_cells";
                         });

}  // namespace bucket_rows_test
}  // namespace depthgrid::testing
