#include "sweeps/run/inherit_cells.hpp"

#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace inherit_cells_test {

class InheritCells : public ::testing::Test {
 protected:
  void beat_from_afar(int beats) const {
    ProcessIdentity other = this_process();
    other.host = "elsewhere";
    other.boot_id = "another-boot";
    make_folders(store_.cell_dir(cell_));
    publish_replace(store_.cell_dir(cell_) / "gen-000001", to_json(other));
    publish_replace(store_.cell_dir(cell_) / "hb-000001", fmt::format("{:019} beats\n", beats));
  }

  const CellId cell_ = "0123456789ab";
  TemporaryFolder scratch_;
  Store store_ = Store::open_or_create(scratch_.path() / "store");
  std::chrono::steady_clock::time_point clock_ = std::chrono::steady_clock::now();
  LeaseKeeper here_{{.ttl = std::chrono::hours(1), .now = [this] { return clock_; }}};
};

TEST_F(InheritCells, ThoseOfASilentOwnerAreFreeForEverybodyAfterItsLease) {
  beat_from_afar(7);
  LeaseKeeper launch({.ttl = std::chrono::hours(1)});  // has never looked before
  EXPECT_FALSE(inherit_cells(store_, here_, {cell_})) << "somebody has it";
  int waited = 0;
  for (int minutes = 0; minutes < 90; minutes += 5) {
    clock_ += std::chrono::minutes(5);
    if (!inherit_cells(store_, here_, {cell_})) {
      ++waited;
      EXPECT_FALSE(launch.appears_free(store_.cell_dir(cell_)));
    }
  }
  EXPECT_GE(waited, 8) << "from two ninths of an hour to the whole";
  const auto lease = launch.try_acquire(store_.cell_dir(cell_));
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->generation(), 3) << "taken over once, and no more";
}

TEST_F(InheritCells, ThoseThatNobodyHasMayBeTrainedAtOnceAlsoBesideOthers) {
  EXPECT_TRUE(inherit_cells(store_, here_, {cell_}));
  beat_from_afar(1);
  EXPECT_FALSE(inherit_cells(store_, here_, {cell_}));
  EXPECT_TRUE(inherit_cells(store_, here_, {cell_, "ba9876543210"}));
}

TEST_F(InheritCells, ThoseOfALivingOwnerAreLeftAloneAndNotWaitedForByALaunch) {
  for (int beats = 1; beats < 30; ++beats) {
    beat_from_afar(beats);
    EXPECT_FALSE(inherit_cells(store_, here_, {cell_}));
    clock_ += std::chrono::minutes(6);
  }
  EXPECT_FALSE(std::filesystem::exists(store_.cell_dir(cell_) / "gen-000002"));
}

}  // namespace inherit_cells_test
}  // namespace depthgrid
