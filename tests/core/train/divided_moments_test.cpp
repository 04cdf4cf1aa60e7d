#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/host_kernels.hpp"
#include "tests/support/stepped_arena.hpp"
#include "tests/support/thread_team.hpp"

namespace depthgrid::testing {
namespace divided_moments_test {

constexpr std::size_t kCells = 5;

/// What a rank of a team has after the steps.
struct Outcome {
  at::Tensor values, shadow;
  std::vector<CellOptimizer::Report> reports;
  std::vector<at::Tensor> moments;  // rows in the order (moment, cell), of the first rank
  std::int64_t moment_columns = 0;
};

using Case = std::tuple<const char*, int, bool, bool>;  // optimiser, ranks, bf16 copy, by kernels

class DividedMoments : public ::testing::TestWithParam<Case> {
 protected:
  static Outcome stepped(OptimizerTeam team) {
    const auto [word, ranks, mixed, by_kernels] = GetParam();
    const TrainOptions options = stepping_options(word, ClipScope::Global, kCells);
    std::unique_ptr<DeviceKernels> kernels;
    if (by_kernels) {
      kernels = std::make_unique<HostKernels>(segment_table(stepping_layout(), options), word,
                                              ClipScope::Global);
    }
    SteppedArena s(options, mixed, at::kCPU, std::move(kernels), team);
    s.optimizer.collect_moments();
    Outcome out{s.arena.values(), s.arena.shadow(), s.reports, {}, 0};
    out.moment_columns = s.optimizer.moments()[0].values.size(1);
    for (std::size_t m = 0; m < s.optimizer.moments().size(); ++m) {
      for (std::int64_t e = 0; e < static_cast<std::int64_t>(kCells); ++e) {
        if (team.sync == nullptr || team.sync->rank() == 0) {
          out.moments.push_back(s.optimizer.moment_row(m, e));
        }
      }
    }
    return out;
  }
};

TEST_P(DividedMoments, HaveTheBitsOfUndividedOnes) {
  const auto ranks = std::get<1>(GetParam());
  const Outcome alone = stepped({});
  ThreadTeam team(ranks);
  std::mutex mutex;
  std::map<int, Outcome> found;

  team.run([&](GradientSync& sync) {
    Outcome mine = stepped({&sync, true});
    const std::lock_guard lock(mutex);
    found[sync.rank()] = std::move(mine);
  });

  std::int64_t columns = 0;
  for (const auto& [rank, mine] : found) {
    EXPECT_TRUE(same_bits(mine.values, alone.values)) << rank;
    if (alone.shadow.defined()) {
      EXPECT_TRUE(same_bits(mine.shadow, alone.shadow)) << rank;
    }
    for (std::size_t s = 0; s < alone.reports.size(); ++s) {
      const auto &a = alone.reports[s], &b = mine.reports[s];
      EXPECT_TRUE(same_bits(a.norms.norm, b.norms.norm)) << rank;
      for (std::size_t e = 0; e < kCells; ++e) {
        EXPECT_NEAR(b.update.update_norm[e] / std::max(a.update.update_norm[e], 1e-300),
                    a.update.update_norm[e] == 0 ? 0 : 1, 1e-14);
        // A NaN cell's parameters are finite: its gradient is masked.
        EXPECT_NEAR(b.update.parameter_norm[e] / a.update.parameter_norm[e], 1, 1e-14);
      }
    }
    columns += mine.moment_columns;
  }
  EXPECT_EQ(columns, alone.values.size(1)) << "each column has one owner";
  ASSERT_EQ(found[0].moments.size(), alone.moments.size());
  for (std::size_t i = 0; i < alone.moments.size(); ++i) {
    EXPECT_TRUE(same_bits(found[0].moments[i], alone.moments[i])) << i;
  }
}

TEST_P(DividedMoments, ARowOfACheckpointComesBack) {
  const auto [word, ranks, mixed, by_kernels] = GetParam();
  const TrainOptions options = stepping_options(word, ClipScope::Global, kCells);
  ThreadTeam team(ranks);
  at::Tensor given = at::Tensor(), back;
  {
    Arena arena(stepping_layout(), std::vector<std::uint64_t>(kCells, 1), at::kFloat);
    given = (arena.values()[0] + 1).clone();
  }
  const at::Tensor row = given;

  team.run([&](GradientSync& sync) {
    Arena arena(stepping_layout(), std::vector<std::uint64_t>(kCells, 1), at::kFloat);
    CellOptimizer optimizer(arena, options, nullptr, {&sync, true});
    optimizer.set_moment_row(1, 3, sync.rank() == 0 ? row : at::Tensor());
    optimizer.collect_moments();
    if (sync.rank() == 0) {
      back = optimizer.moment_row(1, 3);
    } else {
      EXPECT_THROW(optimizer.moment_row(1, 3), Error);
    }
  });

  EXPECT_TRUE(same_bits(back, row));
}

INSTANTIATE_TEST_SUITE_P(Teams, DividedMoments,
                         ::testing::Combine(::testing::Values("adam", "adamw"),
                                            ::testing::Values(2, 3), ::testing::Bool(),
                                            ::testing::Bool()));

TEST(ColumnShards, AreOfAboutEqualSizeAndCutAtBlocks) {
  const TrainOptions options = stepping_options("adam", ClipScope::Global, 1);
  const SegmentTable table = segment_table(stepping_layout(), options);
  ThreadTeam team(2);
  std::mutex mutex;
  std::map<int, std::pair<std::int64_t, std::int64_t>> parts;

  team.run([&](GradientSync& sync) {
    const ColumnShards shards(table, sync);
    const std::lock_guard lock(mutex);
    parts[sync.rank()] = {shards.begin(), shards.end()};
  });

  EXPECT_EQ(parts[0].first, 0);
  EXPECT_EQ(parts[0].second, parts[1].first);
  EXPECT_EQ(parts[1].second, table.row_size());
  EXPECT_TRUE(std::ranges::any_of(table.blocks(),
                                  [&](const Segment& b) { return b.offset == parts[1].first; }));
  EXPECT_LE(std::abs(parts[0].second - table.row_size() / 2), SegmentTable::kBlockSize);
}

}  // namespace divided_moments_test
}  // namespace depthgrid::testing
