#include "sweeps/report/listing.hpp"

#include <gtest/gtest.h>

#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace listing_test {

/// What the note says of a finished cell, whose evaluations count 2048 tokens.
std::string windows_said(std::int64_t asked, std::int64_t seq_len) {
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store,
               synthetic_sweep(
                   {0.1}, 1,
                   {{"eval.windows", asked}, {"data.seq_len", seq_len}, {"eval.stride", seq_len}}));
  finish_cell(store, read_plan(store), 0, 5);
  return list_store(store, "s").periodic_windows;
}

TEST(ListStore, DoesNotSpeakOfMoreWindowsThanThereWere) {
  EXPECT_EQ(windows_said(16, 128), "16 windows");
  EXPECT_EQ(windows_said(17, 128), "the whole split") << "sixteen windows have 2048 tokens";
  EXPECT_EQ(windows_said(17, 127), "17 windows") << "the last one may be shorter";
  EXPECT_EQ(windows_said(64, 4096), "the whole split");
}

TEST(ListSweep, SaysWhatIsAskedForAsLongAsThereIsNoResult) {
  const Sweep sweep = synthetic_sweep({0.1}, 1, {{"eval.windows", std::int64_t{64}}});
  EXPECT_EQ(list_sweep(sweep, "s").periodic_windows, "64 windows");
}

}  // namespace listing_test
}  // namespace depthgrid
