#include "distributed/collective.hpp"

#include <cstdint>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "tests/distributed/rank_env.hpp"

namespace depthgrid {
namespace collective_test {

/// Every implementation must pass this suite at 1, 2 and 4 ranks. "pieces" is MPI with calls of at
/// most three elements, as tensors beyond INT_MAX go.
class CollectiveContract : public ::testing::TestWithParam<const char*> {
 protected:
  CollectiveContract() {
    const std::string name = GetParam();
    group_ = name == "self"     ? make_self_collective()
             : name == "pieces" ? rank_env().world(3)
                                : rank_env().world();
  }
  Collective& group() { return *group_; }
  int rank() const { return group_->rank(); }
  int size() const { return group_->size(); }

 private:
  std::unique_ptr<Collective> group_;
};

TEST_P(CollectiveContract, AllReduceSumsOverRanks) {
  at::Tensor x = at::full({7}, rank() + 1.0);

  group().all_reduce(x, ReduceOp::Sum);

  EXPECT_TRUE(at::equal(x, at::full({7}, size() * (size() + 1) / 2.0)));
}

TEST_P(CollectiveContract, AllReduceTakesTheMaximumOfEachNumber) {
  at::Tensor high = at::full({2}, rank() - 5, at::kInt);
  at::Tensor first = at::full({2}, -rank() - 1.0, at::kDouble);

  group().all_reduce(high, ReduceOp::Max);
  group().all_reduce(first, ReduceOp::Max);

  EXPECT_EQ(high[1].item<int>(), size() - 6);
  EXPECT_EQ(first[0].item<double>(), -1);
}

TEST_P(CollectiveContract, BroadcastHandsOutTheRootsNumbers) {
  const int root = size() - 1;
  at::Tensor x = at::arange(8, at::kFloat) * (rank() == root ? 1.0 : -1.0);

  group().broadcast(x, root);

  EXPECT_TRUE(at::equal(x, at::arange(8, at::kFloat)));
}

TEST_P(CollectiveContract, AllGatherKeepsRankOrder) {
  const at::Tensor mine = at::full({2, 5}, rank(), at::kLong);

  const at::Tensor all = all_gather(group(), mine);

  ASSERT_EQ(all.size(0), 2 * size());
  for (int r = 0; r < size(); ++r) {
    EXPECT_TRUE(at::equal(all.narrow(0, 2 * r, 2), at::full({2, 5}, r, at::kLong)));
  }
}

TEST_P(CollectiveContract, AllToAllSendsSliceToEachRank) {
  const int n = 5;
  at::Tensor mine = at::zeros({size(), n}, at::kLong);
  for (int r = 0; r < size(); ++r) mine[r].fill_(100 * rank() + r);
  at::Tensor theirs = at::zeros({size(), n}, at::kLong);

  group().all_to_all(theirs, mine);

  for (int r = 0; r < size(); ++r) {
    EXPECT_TRUE(at::equal(theirs[r], at::full({n}, 100 * r + rank(), at::kLong)));
  }
}

TEST_P(CollectiveContract, SplitGroupsRanksOfOneColour) {
  const int colour = rank() % 2;

  auto part = group().split(colour, -rank());  // reversed order

  const int members = (size() + 1 - colour) / 2;
  EXPECT_EQ(part->size(), members);
  EXPECT_EQ(part->rank(), members - 1 - rank() / 2);
  EXPECT_EQ(total(*part, colour), colour * members);
}

TEST_P(CollectiveContract, ReducesNumbersOf64Bits) {
  const std::int64_t big = (std::int64_t{1} << 40) + rank();

  EXPECT_EQ(largest(group(), big), (std::int64_t{1} << 40) + size() - 1);
  EXPECT_EQ(total(group(), rank()), size() * (size() - 1) / 2);
}

TEST_P(CollectiveContract, BroadcastsTextOfTheRoot) {
  const int root = size() - 1;
  const std::string text("any\0bytes \xce\xb1", 12);

  EXPECT_EQ(broadcast_text(group(), rank() == root ? text : "something longer than it", root),
            text);
  EXPECT_EQ(broadcast_text(group(), "", 0), "");
}

TEST_P(CollectiveContract, GathersTextsOfDifferentLengths) {
  const auto texts = gather_text(group(), std::string(static_cast<std::size_t>(rank()) * 3, 'a'));

  ASSERT_EQ(texts.size(), static_cast<std::size_t>(size()));
  for (std::size_t r = 0; r < texts.size(); ++r) EXPECT_EQ(texts[r], std::string(r * 3, 'a'));
}

TEST_P(CollectiveContract, BarrierAndWaitReturn) {
  group().barrier();
  group().wait(std::chrono::seconds(1));
}

INSTANTIATE_TEST_SUITE_P(Backends, CollectiveContract, ::testing::Values("self", "mpi", "pieces"),
                         [](const auto& p) { return std::string(p.param); });

TEST(MpiCollective, RefusesBfloat16AndSaysWhatToDo) {
  auto world = rank_env().world();
  at::Tensor x = at::zeros({2}, at::kBFloat16);

  try {
    world->all_reduce(x, ReduceOp::Sum);
    FAIL() << "bfloat16 was taken";
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("float32"), std::string::npos) << error.what();
  }
}

TEST(MpiCollective, RefusesTensorsWithGaps) {
  auto world = rank_env().world();
  at::Tensor x = at::zeros({4, 4}).t().narrow(1, 0, 2);

  EXPECT_THROW(world->all_reduce(x, ReduceOp::Sum), ShapeError);
}

TEST(MpiCollective, ReportsMpisOwnTextForABadRoot) {
  auto world = rank_env().world();
  at::Tensor x = at::zeros({2});

  try {
    world->broadcast(x, world->size());
    FAIL() << "a root beyond the last rank was taken";
  } catch (const BackendError& error) {
    EXPECT_NE(std::string(error.what()).find("MPI_Bcast"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("MPI_ERR_ROOT"), std::string::npos) << error.what();
  }
}

TEST(MpiEnv, CountsTheRanksOfThisHost) {
  auto world = rank_env().world();

  EXPECT_EQ(rank_env().local_size(), world->size());  // tests run on one host
  EXPECT_EQ(rank_env().local_rank(), world->rank());
}

}  // namespace collective_test
}  // namespace depthgrid
