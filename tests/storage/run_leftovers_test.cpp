#include "storage/run_leftovers.hpp"

#include <chrono>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/files/journal.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace run_leftovers_test {

namespace fs = std::filesystem;

void touch(const fs::path& file, const std::string& text = "1234") {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

/// Identity of a process of this machine that has ended.
std::string dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ProcessIdentity out = this_process();
  out.pid = child;
  waitpid(child, nullptr, 0);
  return to_json(out);
}

std::vector<std::string> inside(const fs::path& root, const Leftovers& found) {
  std::vector<std::string> out;
  for (const fs::path& file : found.files) out.push_back(file.lexically_relative(root).string());
  return out;
}

TEST(RunLeftovers, AreChannelsOfTheDeadEndedLaunchesAndRequestsThatWereCarriedOut) {
  const TemporaryFolder scratch;
  const Store store = Store::open_or_create(scratch.path() / "store");
  EXPECT_TRUE(run_leftovers(store).files.empty());
  touch(store.live_dir() / "dead" / "owner", dead_process());
  touch(store.live_dir() / "dead" / "rank-0.now");
  touch(store.live_dir() / "alive" / "owner", to_json(this_process()));
  touch(store.live_dir() / "new" / "rank-0.events");
  touch(store.live_dir() / "old" / "rank-0.events");
  for (const fs::path& file :
       {store.live_dir() / "old" / "rank-0.events", store.live_dir() / "old"}) {
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(25));
  }
  LeaseKeeper keeper;
  const fs::path launches = store.root() / "launches";
  for (const char* launch : {"ended", "held", "unclaimed"}) {
    touch(launches / launch / "current.json");
    touch(launches / launch / "attempt-1.json");
    touch(launches / launch / "board-1" / "rank-0.events");
  }
  keeper.try_acquire(launches / "ended")->release();
  const auto held = keeper.try_acquire(launches / "held");
  const CellId cancelled = "0123456789ab", failed = "ba9876543210", running = "aaaaaaaaaaaa";
  store.publish_failure(cancelled, 1, CellStatus::Cancelled, "{}");
  store.publish_failure(failed, 1, CellStatus::Failed, "{}");
  const auto lease = keeper.try_acquire(store.cell_dir(running));
  for (const CellId& id : {cancelled, failed, running}) touch(store.stop_request(id));
  touch(store.requests_dir() / "stop-nothing");

  const Leftovers found = run_leftovers(store);

  EXPECT_EQ(
      inside(store.root(), found),
      (std::vector<std::string>{"launches/ended/board-1", "launches/ended/board-1/rank-0.events",
                                "launches/ended/current.json", "live/dead", "live/dead/owner",
                                "live/dead/rank-0.now", "live/old", "live/old/rank-0.events",
                                "orders/stop-0123456789ab"}));
  EXPECT_GT(found.bytes, 0U);
  EXPECT_EQ(remove_leftovers(found), std::vector<std::string>{});
  EXPECT_TRUE(run_leftovers(store).files.empty());
  EXPECT_TRUE(fs::exists(launches / "ended" / "attempt-1.json"));
  EXPECT_TRUE(fs::exists(store.live_dir() / "alive"));
}

}  // namespace run_leftovers_test
}  // namespace depthgrid
