#include "sweeps/report/log_follower.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "storage/files/journal.hpp"
#include "storage/files/lease_keeper.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace log_follower_test {

void attempt(const Store& store, const CellId& id, std::int64_t generation,
             const std::string& log) {
  Journal(store.cell_dir(id) / generation_name("journal", generation),
          {.generation = generation,
           .kinds = {{"train", {{"train_loss", 1}}}},
           .attempt_json = R"({"logs": [")" + log + R"("]})",
           .cell = id});
}

TEST(LogFollower, TellsWholeLinesOnceAndGoesOnWithTheNextWorker) {
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "store");
  const CellId id = "0123456789ab";
  std::filesystem::create_directories(store.log_dir());
  const auto log = [&](const char* name) {
    return std::ofstream(store.log_dir() / name, std::ios::app);
  };
  LogFollower follower(store, id, 2);
  EXPECT_EQ(follower.more(), "");  // nobody has tried the cell yet

  attempt(store, id, 1, "one.log");
  log("one.log") << "a\nb\nc\nhal";
  EXPECT_EQ(follower.more(), "==> " + (store.log_dir() / "one.log").string() + " <==\nb\nc\n");
  EXPECT_EQ(follower.more(), "");
  log("one.log") << "f\n";
  EXPECT_EQ(follower.more(), "half\n");

  attempt(store, id, 2, "two.log");
  log("two.log") << "x\ny\nz\n";
  EXPECT_EQ(follower.more(), "==> " + (store.log_dir() / "two.log").string() + " <==\nx\ny\nz\n");
  EXPECT_FALSE(follower.ended());
  store.publish_failure(id, 2, CellStatus::Failed, "{}");
  EXPECT_TRUE(follower.ended());
}

}  // namespace log_follower_test
}  // namespace depthgrid
