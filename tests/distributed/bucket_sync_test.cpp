#include "distributed/bucket_sync.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "tests/distributed/rank_env.hpp"

namespace depthgrid {
namespace bucket_sync_test {

/// (2, n) gradients of one rank, of many magnitudes, so that the order of a sum shows in its bits.
at::Tensor gradients_of(int rank, std::int64_t n) {
  at::Tensor g = at::zeros({2, n});
  float* const x = g.mutable_data_ptr<float>();
  std::uint32_t state = 12345U + 977U * static_cast<std::uint32_t>(rank);
  for (std::int64_t i = 0; i < g.numel(); ++i) {
    state = state * 1664525U + 1013904223U;
    const float unit = static_cast<float>(state >> 8U) * 0x1p-24F - 0.5F;
    x[i] = unit * (((state >> 3U) & 3U) == 0 ? 1e4F : 1.0F);
  }
  return g;
}

/// What one process gets that accumulates the ranks' gradients one after another.
at::Tensor accumulated(int ranks, std::int64_t n) {
  at::Tensor sum = gradients_of(0, n);
  for (int r = 1; r < ranks; ++r) sum.add_(gradients_of(r, n));
  return sum;
}

/// A group of two that sends nothing and remembers in which order it was called.
class RecordedGroup : public Collective {
 public:
  std::vector<std::string> calls;

  std::string_view name() const noexcept override { return "recorded"; }
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 2; }
  void all_reduce(at::Tensor&, ReduceOp) override { calls.emplace_back("all_reduce"); }
  void broadcast(at::Tensor&, int) override { calls.emplace_back("broadcast"); }
  void all_gather_into(at::Tensor&, const at::Tensor&) override { calls.emplace_back("gather"); }
  void all_to_all(at::Tensor&, const at::Tensor&) override { calls.emplace_back("to_all"); }
  std::unique_ptr<Collective> split(int, int) override { return nullptr; }
  void barrier() override { calls.emplace_back("barrier"); }
  void wait(std::chrono::milliseconds timeout) override {
    EXPECT_EQ(timeout, kPeerTimeout);
    calls.emplace_back("wait");
  }
};

TEST(BucketSync, WaitsForItsPeersWithALimitAfterTheLastCall) {
  RecordedGroup group;
  BucketSync sync(group, group, 64);
  at::Tensor gradients = at::zeros({41});  // buckets and a tail

  sync.sum(gradients);

  ASSERT_GT(group.calls.size(), 4);
  EXPECT_EQ(group.calls.back(), "wait");
  EXPECT_EQ(std::ranges::count(group.calls, "wait"), 1);
}

class BucketSyncSizes : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(BucketSyncSizes, HasTheBitsOfOneRankThatAccumulates) {
  auto world = rank_env().world();
  const std::int64_t n = GetParam();
  for (const std::int64_t bucket_bytes : {std::int64_t{64}, BucketSync::kBucketBytes}) {
    BucketSync sync(*world, *world, bucket_bytes);
    at::Tensor g = gradients_of(world->rank(), n);

    sync.sum(g);

    EXPECT_TRUE(at::equal(g, accumulated(world->size(), n))) << "bucket " << bucket_bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(Parameters, BucketSyncSizes, ::testing::Values(1, 3, 8, 1001, 4096));

TEST(BucketSync, RepeatsToTheBitAndEveryRankHasTheSame) {
  auto world = rank_env().world();
  BucketSync sync(*world, *world, 1000);
  at::Tensor first = gradients_of(world->rank(), 5003);
  at::Tensor second = gradients_of(world->rank(), 5003);

  sync.sum(first);
  sync.sum(second);

  EXPECT_TRUE(at::equal(first, second));
  at::Tensor of_rank_zero = first.clone();
  world->broadcast(of_rank_zero, 0);
  EXPECT_TRUE(at::equal(first, of_rank_zero));
}

TEST(BucketSync, SumsBegunBesideOtherWorkHaveTheSameBits) {
  auto world = rank_env().world();
  const at::Tensor expected = accumulated(world->size(), 5003);
  for (const bool beside : {false, true}) {
    BucketSync sync(*world, *world, 1000, beside);
    at::Tensor g = gradients_of(world->rank(), 5003);
    at::Tensor other = gradients_of(world->rank() + 1, 64);
    for (int step = 0; step < 3; ++step) {
      g.copy_(gradients_of(world->rank(), 5003));
      for (std::int64_t begin : {4000, 1001, 0}) {
        const std::int64_t end = begin == 4000 ? 5003 : begin == 1001 ? 4000 : 1001;
        sync.begin_sum(g.narrow(1, begin, end - begin));
        other = other.sin();  // what the process does meanwhile
      }
      sync.finish_sums();

      EXPECT_TRUE(at::equal(g, expected)) << beside;
    }
    at::Tensor after = gradients_of(world->rank(), 777);
    sync.sum(after);
    EXPECT_TRUE(at::equal(after, accumulated(world->size(), 777)));
  }
}

TEST(BucketSync, AFailureBesideIsThrownWhenTheSumsAreWaitedFor) {
  class Lost final : public RecordedGroup {
   public:
    void all_to_all(at::Tensor&, const at::Tensor&) override {
      throw BackendError("MPI", "test", 1, "a peer is lost");
    }
  };
  Lost group;
  BucketSync sync(group, group, 64, true);
  sync.begin_sum(at::zeros({40}));
  sync.begin_sum(at::zeros({40}));

  EXPECT_THROW(sync.finish_sums(), BackendError);
  sync.finish_sums();  // nothing is left
}

TEST(BucketSync, GivesEveryRankTheTensorOfOne) {
  auto world = rank_env().world();
  BucketSync sync(*world, *world);
  for (int root = 0; root < world->size(); ++root) {
    at::Tensor g = gradients_of(world->rank(), 100);

    sync.broadcast(g, root);

    EXPECT_TRUE(at::equal(g, gradients_of(root, 100)));
  }
}

TEST(BucketSync, TwoRanksEqualTwoAccumulatedHalfBatchesInEitherOrder) {
  auto world = rank_env().world();
  if (world->size() != 2) GTEST_SKIP() << "for two ranks";
  BucketSync sync(*world, *world);
  at::Tensor g = gradients_of(world->rank(), 777);

  sync.sum(g);

  EXPECT_TRUE(at::equal(g, gradients_of(1, 777) + gradients_of(0, 777)));
}

TEST(BucketSync, SumsFloat64AndKeepsNonFiniteNumbersWhereTheyAre) {
  auto world = rank_env().world();
  BucketSync sync(*world, *world);
  at::Tensor x = at::full({9}, 1.0, at::kDouble);
  if (world->rank() == 0) x[4].fill_(std::numeric_limits<double>::quiet_NaN());

  sync.sum(x);

  for (int i = 0; i < 9; ++i) {
    if (i == 4) {
      EXPECT_TRUE(std::isnan(x[i].item<double>()));
    } else {
      EXPECT_EQ(x[i].item<double>(), world->size());
    }
  }
}

TEST(BucketSync, RefusesIntegersAndTensorsWithGaps) {
  auto world = rank_env().world();
  BucketSync sync(*world, *world);
  at::Tensor integers = at::zeros({4}, at::kLong);
  at::Tensor gaps = at::zeros({4, 4}).t();

  EXPECT_THROW(sync.sum(integers), ShapeError);
  EXPECT_THROW(sync.sum(gaps), ShapeError);
}

TEST(BucketSync, LargestSeesEveryRank) {
  auto world = rank_env().world();
  BucketSync sync(*world, *world);

  EXPECT_EQ(sync.largest(world->rank() == world->size() - 1 ? 1 : 0), 1);
  EXPECT_EQ(sync.largest(0), 0);
  EXPECT_EQ(sync.ranks(), world->size());
  EXPECT_EQ(sync.rank(), world->rank());
}

TEST(NoSync, IsTheIdentity) {
  NoSync sync;
  at::Tensor x = at::full({3}, 2.0);

  sync.sum(x);

  EXPECT_TRUE(at::equal(x, at::full({3}, 2.0)));
  EXPECT_EQ(sync.largest(7), 7);
  EXPECT_EQ(sync.ranks(), 1);
}

}  // namespace bucket_sync_test
}  // namespace depthgrid
