#include "sweeps/queue/remaining_cells.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace remaining_cells_test {

class ProgressMeasure : public ::testing::Test {
 protected:
  const CellId& id(std::size_t row) const { return sweep_.cells[row].id; }
  /// A file with the name of a checkpoint: none is opened.
  void checkpoint(std::size_t row, const std::string& name) {
    publish_once(store_.cell_dir(id(row)) / name, std::string_view("x"));
  }
  std::int64_t measure() const { return progress_measure(store_, {id(0), id(1)}); }

  TemporaryFolder scratch_;
  Sweep sweep_ = synthetic_sweep({1e-3, 2e-3}, 1);
  Store store_ = Store::open_or_create(scratch_.path() / "store");
};

TEST_F(ProgressMeasure, OlderCheckpointsThatGoDoNotHideANewerOne) {
  EXPECT_EQ(measure(), 0);
  checkpoint(0, "ckpt-00000900-000001.h5");
  checkpoint(0, "ckpt-00001000-000001.h5");
  const std::int64_t before = measure();
  EXPECT_EQ(before, 1000);
  std::filesystem::remove(store_.cell_dir(id(0)) / "ckpt-00000900-000001.h5");
  std::filesystem::remove(store_.cell_dir(id(0)) / "ckpt-00001000-000001.h5");
  checkpoint(0, "ckpt-00001100-000002.h5");
  EXPECT_GT(measure(), before) << "1100 is further than 1000, and not less than 900 + 1000";
}

TEST_F(ProgressMeasure, AFailureReportCountsMoreThanAnyStep) {
  checkpoint(0, "ckpt-00001000-000001.h5");
  checkpoint(1, "ckpt-00000500-000001.h5");
  EXPECT_EQ(measure(), 1500) << "of all cells";
  LeaseKeeper leases;
  std::int64_t before = measure();
  for (int i = 0; i < 2; ++i) {
    const auto lease = leases.try_acquire(store_.cell_dir(id(0)));
    ASSERT_TRUE(lease);
    store_.publish_failure(id(0), lease->generation(), CellStatus::Failed, "{}");
    EXPECT_GE(measure(), before + (std::int64_t{1} << 32)) << "each";
    before = measure();
  }
}

}  // namespace remaining_cells_test
}  // namespace depthgrid
