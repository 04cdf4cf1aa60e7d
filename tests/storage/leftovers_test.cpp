#include "storage/leftovers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace leftovers_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

void write(const fs::path& file, std::chrono::minutes age = 0min) {
  std::ofstream(file) << "1234";
  fs::last_write_time(file, fs::last_write_time(file) - age);
}

std::vector<std::string> names(const Leftovers& leftovers) {
  std::vector<std::string> out;
  for (const fs::path& file : leftovers.files) out.push_back(file.filename());
  return out;
}

TEST(Leftovers, OfAStoreAreUnfinishedFilesThatNobodyWrites) {
  const TemporaryFolder scratch;
  const Store store = Store::open_or_create(scratch.path() / "store");
  LeaseKeeper keeper;
  const auto held = keeper.try_acquire(store.cell_dir("0123456789ab"));
  write(store.cell_dir("0123456789ab") / ".tmp-7-held", 600min);
  keeper.try_acquire(store.cell_dir("ba9876543210"))->release();
  write(store.cell_dir("ba9876543210") / ".tmp-8-free");
  write(store.cell_dir("ba9876543210") / "journal-000001");
  write(store.root() / ".tmp-9-new", 30min);
  write(store.root() / ".tmp-9-old", 90min);

  const Leftovers found = store_leftovers(store);

  EXPECT_EQ(names(found), (std::vector<std::string>{".tmp-9-old", ".tmp-8-free"}));
  EXPECT_EQ(found.bytes, 8U);
  EXPECT_EQ(remove_leftovers(found), std::vector<std::string>{});
  EXPECT_TRUE(store_leftovers(store).files.empty());
  EXPECT_TRUE(fs::exists(store.cell_dir("ba9876543210") / "journal-000001"));
}

TEST(Leftovers, InSharedMemoryAreSegmentsThatNoProcessHasMapped) {
  const TemporaryFolder scratch;
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  const std::string stem = "vader_segment." + std::string(host.data()) + ".0.7f000001.";
  for (const char* rank : {"0", "1"}) write(scratch.path() / (stem + rank), 5min);
  write(scratch.path() / (stem + "2"));  // just begun: not mapped yet
  write(scratch.path() / "vader_segment.another-host.0.7f000001.0", 5min);
  write(scratch.path() / "data_of_a_user", 5min);
  const Fd mapped(open((scratch.path() / (stem + "1")).c_str(), O_RDONLY | O_CLOEXEC));
  void* const memory = mmap(nullptr, 4, PROT_READ, MAP_SHARED, mapped.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);

  EXPECT_EQ(names(shared_memory_leftovers(scratch.path())), std::vector<std::string>{stem + "0"});

  munmap(memory, 4);
  EXPECT_EQ(names(shared_memory_leftovers(scratch.path())),
            (std::vector<std::string>{stem + "0", stem + "1"}));
}

TEST(Leftovers, InSharedMemoryAreFilesThatDeadProcessesWereBuilding) {
  const TemporaryFolder scratch;
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream(scratch_name(scratch.path())) << "1234";
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::ofstream(scratch_name(scratch.path())) << "of a living process";
  for (const char* name : {".tmp-7-old", ".tmp-8-new", ".tmp-9-filled"}) {
    std::ofstream(scratch.path() / name) << (name == std::string(".tmp-9-filled") ? "1" : "");
  }
  for (const char* name : {".tmp-7-old", ".tmp-9-filled"}) {
    const fs::path file = scratch.path() / name;
    fs::last_write_time(file, fs::last_write_time(file) - 90min);
  }

  const Leftovers found = shared_memory_leftovers(scratch.path());

  ASSERT_EQ(found.files.size(), 2U);
  EXPECT_EQ(found.bytes, 4U);
  EXPECT_EQ(std::ranges::count(names(found), std::string(".tmp-7-old")), 1);
}

TEST(Leftovers, WhatCannotBeRemovedIsSaid) {
  const TemporaryFolder scratch;
  fs::create_directories(scratch.path() / "folder" / "full");

  const auto problems = remove_leftovers({{scratch.path() / "folder", scratch.path() / "gone"}, 0});

  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("not empty"), std::string::npos) << problems[0];
}

}  // namespace leftovers_test
}  // namespace depthgrid
