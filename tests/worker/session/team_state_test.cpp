#include "worker/session/team_state.hpp"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace team_state_test {

/// A rank of a team of two whose other rank is made up: what it would send is given.
class Pair final : public Collective {
 public:
  Pair(int rank, at::Tensor theirs) : rank_(rank), theirs_(std::move(theirs)) {}

  std::string_view name() const noexcept override { return "pair"; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return 2; }
  void broadcast(at::Tensor& x, int root) override {
    if (root != rank_) x.copy_(theirs_);
  }
  void all_gather_into(at::Tensor& all, const at::Tensor& mine) override {
    all.copy_(rank_ == 0 ? at::cat({mine, theirs_}) : at::cat({theirs_, mine}));
  }
  void all_reduce(at::Tensor&, ReduceOp) override { throw Error("not expected"); }
  void all_to_all(at::Tensor&, const at::Tensor&) override { throw Error("not expected"); }
  std::unique_ptr<Collective> split(int, int) override { throw Error("not expected"); }
  void barrier() override {}
  void wait(std::chrono::milliseconds) override {}

 private:
  int rank_;
  at::Tensor theirs_;
};

at::Tensor numbers(const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong);
}

TEST(TeamState, CellsThatTheFirstRankHasRetiredEndOnTheOthersToo) {
  CellSet cells(3);
  cells.retire(0, CellStatus::Diverged);
  Pair follower(1, numbers({0, 0, 1}));

  share_ends(follower, cells);

  EXPECT_EQ(cells.status(0), CellStatus::Diverged);
  EXPECT_EQ(cells.status(1), CellStatus::Completed);
  EXPECT_EQ(cells.status(2), CellStatus::Running);
}

TEST(TeamState, NothingIsWrittenOfRanksThatDiffer) {
  ParameterLayout layout;
  layout.parameter({.name = "w", .shape = {5}});
  Arena arena(layout, {1, 2}, at::kFloat, false);
  arena.values().fill_(0.25);
  const auto hash = static_cast<std::int64_t>(parameter_hash(arena));
  Pair equal(0, numbers({hash})), other(0, numbers({hash + 1}));
  const auto alone = make_self_collective();

  EXPECT_NO_THROW(require_equal_parameters(*alone, arena, 7));
  EXPECT_NO_THROW(require_equal_parameters(equal, arena, 7));
  try {
    require_equal_parameters(other, arena, 7);
    FAIL() << "the ranks differ";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("after step 7 the parameters of rank 1"),
              std::string::npos)
        << e.what();
  }
  arena.values().select(0, 1).select(0, 4).fill_(0.25000003F);  // one bit
  EXPECT_NE(static_cast<std::int64_t>(parameter_hash(arena)), hash);
}

}  // namespace team_state_test
}  // namespace depthgrid
