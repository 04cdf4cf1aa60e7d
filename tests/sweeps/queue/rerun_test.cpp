#include "sweeps/queue/rerun.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/lease.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace rerun_test {

namespace fs = std::filesystem;

class Rerun : public ::testing::Test {
 protected:
  fs::path folder(std::size_t row) const { return store_.cell_path(sweep_.cells[row].id); }
  void complete(std::size_t row) const {
    finish_cell(store_, plan_, row, 5, CellStatus::Completed);
  }

  TemporaryFolder scratch_;
  Sweep sweep_ = synthetic_sweep({1e-3, 2e-3}, 1);
  Store store_ = Store::open_or_create(scratch_.path() / "store");
  StoredPlan plan_ = stored_plan(sweep_);
};

TEST_F(Rerun, KeepsTheEarlierFilesAndLeavesACellThatWasNeverTried) {
  complete(0);
  complete(1);
  const CellId& id = sweep_.cells[0].id;
  const std::int64_t claims = highest_claim(folder(0));
  LeaseKeeper leases;
  for (const char* name : {"earlier-1", "earlier-2"}) {
    const auto earlier = archive_result(store_, id, leases);
    ASSERT_TRUE(earlier.has_value());
    EXPECT_EQ(*earlier, folder(0) / name);
    EXPECT_TRUE(fs::exists(*earlier / "result.h5"));
    EXPECT_FALSE(store_.completed(id));
    EXPECT_EQ(highest_record(folder(0)), highest_claim(folder(0)));  // no journal is left
    complete(0);
    EXPECT_TRUE(store_.completed(id));
  }
  EXPECT_GT(highest_claim(folder(0)), claims);
  EXPECT_TRUE(store_.completed(sweep_.cells[1].id));
}

TEST_F(Rerun, ACellWithoutAResultStaysAsItIs) {
  LeaseKeeper leases;
  EXPECT_EQ(archive_result(store_, sweep_.cells[0].id, leases), std::nullopt);
  EXPECT_FALSE(fs::exists(folder(0)));
}

TEST_F(Rerun, ACellThatIsInUseIsRefused) {
  complete(0);
  LeaseKeeper others, ours;
  const auto lease = others.try_acquire(folder(0));
  ASSERT_TRUE(lease.has_value());
  EXPECT_THROW(archive_result(store_, sweep_.cells[0].id, ours), UserError);
  EXPECT_TRUE(store_.completed(sweep_.cells[0].id));
}

}  // namespace rerun_test
}  // namespace depthgrid
