#include "sweeps/plan/budget.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "core/config/identity.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace budget_test {

constexpr double kMiB = 1024.0 * 1024.0;

bool names(const std::optional<std::string>& text, const std::string& part) {
  return text && text->find(part) != std::string::npos;
}

TEST(Budget, WithoutALeafNothingIsUsedUp) {
  const CellConfig run = make_config({});
  EXPECT_FALSE(has_budget(run));
  EXPECT_FALSE(used_up(run, {.wall = 1e12, .rank_seconds = 1e12, .store_bytes = 1e15}));
  EXPECT_FALSE(store_problem(run, 1e15, 1e15));
  EXPECT_TRUE(budget_lines(run, {}, {}).empty());
}

TEST(Budget, EachIsUsedUpByItsOwnNumber) {
  const CellConfig wall = make_config({{"budget.wall_time", "1:00:00"}});
  EXPECT_FALSE(used_up(wall, {.wall = 3599, .rank_seconds = 1e9, .store_bytes = 1e15}));
  EXPECT_TRUE(names(used_up(wall, {.wall = 3600}), "budget.wall_time is used up"));
  const CellConfig hours = make_config({{"budget.gpu_hours", 0.5}});
  EXPECT_FALSE(used_up(hours, {.wall = 1e9, .rank_seconds = 1799}));
  EXPECT_TRUE(names(used_up(hours, {.rank_seconds = 1800}), "budget.gpu_hours is used up"));
  const CellConfig bytes = make_config({{"budget.store_bytes", "2M"}});
  EXPECT_FALSE(used_up(bytes, {.wall = 1e9, .store_bytes = 2 * kMiB - 1}));
  EXPECT_TRUE(names(used_up(bytes, {.store_bytes = 2 * kMiB}), "budget.store_bytes is used up"));
}

TEST(Budget, ASweepThatNeedsMoreThanTheStoreMayHoldIsRefused) {
  const CellConfig run = make_config({{"budget.store_bytes", "10M"}});
  EXPECT_FALSE(store_problem(run, 4 * kMiB, 6 * kMiB));
  EXPECT_TRUE(names(store_problem(run, 4 * kMiB, 7 * kMiB), "budget.store_bytes"));
  EXPECT_FALSE(store_problem(run, 4 * kMiB, std::nan(""))) << "costs are unknown";
  const auto lines = budget_lines(run, {.store_bytes = 4 * kMiB}, {.store_bytes = 7 * kMiB});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("more than it allows"), std::string::npos) << lines[0];
}

TEST(Budget, AFolderHasTheBytesOfAllFilesBelow) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "cells");
  std::ofstream(folder.path() / "cells" / "a") << std::string(1000, 'x');
  std::ofstream(folder.path() / "b") << std::string(10, 'x');
  EXPECT_EQ(folder_bytes(folder.path()), 1010);
}

}  // namespace budget_test
}  // namespace depthgrid
