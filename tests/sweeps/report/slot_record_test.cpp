#include "sweeps/report/slot_record.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace slot_record_test {

TEST(SlotRecord, SumsAreOfTheNewestRecordOfEachSupervisor) {
  const TemporaryFolder folder;
  EXPECT_EQ(slot_sums(folder.path()).seconds, 0);
  keep_slots(folder.path(), {.name = "n1-a", .cards = false, .seconds = 60, .busy = 30});
  keep_slots(folder.path(), {.name = "n1-a", .cards = false, .seconds = 120, .busy = 80});
  keep_slots(folder.path(), {.name = "n2-b", .cards = true, .seconds = 10, .busy = 10});
  std::ofstream(folder.path() / "supervisors/torn.json") << "{\"slot_seconds\": ";
  std::ofstream(folder.path() / "supervisors/odd.json") << "{\"slot_seconds\": \"many\"}";

  std::filesystem::create_directory(folder.path() / "supervisors/folder.json");

  const SlotSums sums = slot_sums(folder.path());

  EXPECT_DOUBLE_EQ(sums.seconds, 130);
  EXPECT_DOUBLE_EQ(sums.busy, 90);
  EXPECT_TRUE(sums.cards);
}

}  // namespace slot_record_test
}  // namespace depthgrid
