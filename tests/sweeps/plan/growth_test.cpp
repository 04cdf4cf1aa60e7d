#include "sweeps/plan/growth.hpp"

#include <gtest/gtest.h>

#include "storage/files/publish.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace growth_test {

TEST(GrowthOf, CountsWhatARunWouldFind) {
  const TemporaryFolder folder;
  const Sweep first = synthetic_sweep({1e-4, 1e-3, 1e-2});
  const Sweep second = synthetic_sweep({1e-4, 1e-3, 3e-3}, 2);
  EXPECT_EQ(growth_text(growth_of(second, folder.path() / "none")),
            "0 cells done, 0 in progress, 6 new");
  const Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store, first);
  const StoredPlan plan = read_plan(store);
  finish_cell(store, plan, 0, 5);
  finish_cell(store, plan, 2, 5);
  store.publish_failure(plan.cells[1].id, 1, CellStatus::Failed, "{}");
  publish_once(store.cell_dir(plan.cells[1].id) / "gen-000001", std::string_view("{}"));

  const Growth growth = growth_of(second, store.root());

  EXPECT_EQ(growth.done, 1);
  EXPECT_EQ(growth.in_progress, 1);
  EXPECT_EQ(growth.fresh, 4);
  EXPECT_EQ(growth.absent, 1);
  EXPECT_EQ(growth.absent_done, 1);
  EXPECT_EQ(growth_text(growth),
            "1 cell done, 1 in progress, 4 new; 1 cell of the store is not in this file (1 with a "
            "result)");
}

TEST(GrowthOf, ADamagedResultIsNotDone) {
  const TemporaryFolder folder;
  const Sweep sweep = synthetic_sweep({1e-4, 1e-3});
  const Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store, sweep);
  const StoredPlan plan = read_plan(store);
  finish_cell(store, plan, 0, 5);
  finish_cell(store, plan, 1, 5);
  publish_once(store.cell_dir(plan.cells[1].id) / "gen-000001", std::string_view("{}"));
  // Its seal, the first block, is as it was.
  const auto result = store.cell_path(plan.cells[1].id) / "result.h5";
  std::filesystem::resize_file(result, std::filesystem::file_size(result) - 1);

  const Growth growth = growth_of(sweep, store.root());

  EXPECT_EQ(growth.done, 1);
  EXPECT_EQ(growth.in_progress, 1);
}

}  // namespace growth_test
}  // namespace depthgrid
