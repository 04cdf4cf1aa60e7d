// What is on the disk after any call of a writer has failed: never half a file under its name.

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace disk_faults_test {

constexpr int kErrors[] = {ENOSPC, EIO};

/// What a writer has said; empty if it says that all is well.
template <class Work>
std::string problem_of(Work work) {
  try {
    work();
    return {};
  } catch (const StorageError& error) {
    EXPECT_EQ(error.code(), ExitCode::CantCreate) << error.what();
    return error.what();
  }
}

/// The message names the place and what to do.
void expect_helpful(const std::string& message, const std::filesystem::path& folder) {
  EXPECT_NE(message.find(folder.string()), std::string::npos) << message;
  EXPECT_NE(message.find("run the same command again"), std::string::npos) << message;
}

/// Names in a folder that are none of unfinished files.
std::set<std::string> visible(const std::filesystem::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kScratchPrefix)) out.insert(name);
  }
  return out;
}

std::size_t unfinished(const std::filesystem::path& folder) {
  std::size_t out = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    out += entry.path().filename().string().starts_with(kScratchPrefix) ? 1U : 0U;
  }
  return out;
}

TEST(DiskFaults, AFileThatIsReplacedIsTheOldOneOrTheNewOneWhateverCallFails) {
  for (const int error : kErrors) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "a";
    const std::string old_text(3000, 'o'), new_text(5000, 'n');
    std::set<std::string> failed;
    fail_at_each_call(
        error,
        [&](const Fs& disk) {
          overwrite(file, std::as_bytes(std::span(old_text)));
          return problem_of([&] { publish_replace(file, new_text, disk); });
        },
        [&](const PretendedFs& disk, const std::string& problem) {
          const std::string call = disk.state().failed.name;
          failed.insert(call);
          const std::string text = read_text_file(file);
          EXPECT_TRUE(text == old_text || text == new_text) << call;
          if (problem.empty()) {
            EXPECT_EQ(text, new_text) << call;
          } else {
            expect_helpful(problem, folder.path());
          }
          EXPECT_EQ(visible(folder.path()), std::set<std::string>{"a"}) << call;
          EXPECT_EQ(unfinished(folder.path()), 0U) << call;
        });
    for (const char* call : {"open_folder", "create", "write", "sync", "rename", "sync_folder"}) {
      EXPECT_TRUE(failed.contains(call)) << call;
    }
  }
}

TEST(DiskFaults, AFileThatIsPublishedOnceIsWholeOrNotThere) {
  for (const int error : kErrors) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "a";
    const std::string text(5000, 'n');
    std::set<std::string> failed;
    fail_at_each_call(
        error,
        [&](const Fs& disk) {
          std::filesystem::remove(file);
          remove_scratch(folder.path());
          return problem_of([&] { EXPECT_TRUE(publish_once(file, text, disk)); });
        },
        [&](const PretendedFs& disk, const std::string& problem) {
          const std::string call = disk.state().failed.name;
          failed.insert(call);
          if (std::filesystem::exists(file)) {
            EXPECT_EQ(read_text_file(file), text) << call;
          }
          if (problem.empty()) {
            EXPECT_TRUE(std::filesystem::exists(file)) << call;
          }
          if (!problem.empty()) expect_helpful(problem, folder.path());
          EXPECT_EQ(unfinished(folder.path()), call == "remove" ? 1U : 0U) << call;
        });
    EXPECT_TRUE(failed.contains("link"));
  }
}

TEST(DiskFaults, RowsOfAJournalThatWereAcknowledgedAreThereWhateverCallFails) {
  for (const int error : kErrors) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "journal-000001";
    const JournalHeader header = {1, 0, {{"train", {{"train_loss", 1}}}}, "{}"};
    std::set<std::string> failed;
    std::size_t acknowledged = 0;
    fail_at_each_call(
        error,
        [&](const Fs& disk) {
          std::filesystem::remove(file);
          acknowledged = 0;
          return problem_of([&] {
            JournalOptions always;
            always.sync_after = std::chrono::milliseconds(0);
            Journal journal(file, header, always, disk);
            for (std::int64_t step = 1; step <= 3; ++step) {
              const double loss = 1.0 / static_cast<double>(step);
              try {
                journal.append(0, step, {&loss, 1});
              } catch (const StorageError&) {
                EXPECT_THROW(journal.append(0, step, {&loss, 1}), StorageError) << "it is closed";
                throw;
              }
              ++acknowledged;
            }
          });
        },
        [&](const PretendedFs& disk, const std::string& problem) {
          const std::string call = disk.state().failed.name;
          failed.insert(call);
          if (problem.empty()) {
            EXPECT_EQ(acknowledged, 3U) << call;
          } else {
            expect_helpful(problem, folder.path());
          }
          if (!std::filesystem::exists(file)) return;
          const JournalContents found = read_journal(file);
          if (acknowledged > 0) {
            ASSERT_EQ(found.rows.size(), 1U) << call;
          }
          for (const RowTable& rows : found.rows) {
            EXPECT_GE(rows.size(), acknowledged) << call;
            for (std::size_t i = 0; i < rows.size(); ++i) {
              EXPECT_EQ(rows.steps[i], static_cast<std::int64_t>(i) + 1) << call;
              EXPECT_EQ(rows.row(i)[0], 1.0 / static_cast<double>(i + 1)) << call;
            }
          }
        });
    for (const char* call : {"open", "write", "sync_data", "sync_folder"}) {
      EXPECT_TRUE(failed.contains(call)) << call;
    }
  }
}

TEST(DiskFaults, AClaimThatFailedKeepsTheCellFromNobody) {
  for (const int error : kErrors) {
    std::set<std::string> failed;
    fail_at_each_call(
        error,
        [&](const Fs& disk) {
          const TemporaryFolder cell;
          bool claimed = false;
          const std::string problem = problem_of([&] {
            LeaseKeeper keeper({}, disk);
            const auto lease = keeper.try_acquire(cell.path());
            claimed = lease.has_value();
          });
          if (!problem.empty()) expect_helpful(problem, cell.path());
          const std::int64_t last = highest_claim(cell.path());
          if (last > 0) {
            EXPECT_TRUE(read_claim(cell.path(), last)) << "half a claim";
          }
          LeaseKeeper other;
          const bool freed = other.try_acquire(cell.path()).has_value();
          return std::pair(claimed, freed);
        },
        [&](const PretendedFs& disk, const std::pair<bool, bool>& got) {
          const std::string call = disk.state().failed.name;
          failed.insert(call);
          if (call.empty()) {
            EXPECT_TRUE(got.first);
          }
          // A heartbeat whose end could not be written is waited for.
          if (!got.first) {
            EXPECT_TRUE(got.second) << call;
          }
        });
    for (const char* call : {"list", "create", "write", "link", "open", "write_at"}) {
      EXPECT_TRUE(failed.contains(call)) << call;
    }
  }
}

TEST(DiskFaults, ACheckpointIsTheOldOneOrTheNewOneWhateverCallFails) {
  const std::vector<float> weights = {1, 2, 3};
  const auto at_step = [&](std::int64_t step) {
    return CheckpointData{step, "cafe", {}, {}, {{"w", {3}, weights}}};
  };
  for (const int error : kErrors) {
    std::set<std::string> failed;
    fail_at_each_call(
        error,
        [&](const Fs& disk) {
          const TemporaryFolder cell;
          publish_checkpoint(cell.path(), 1, at_step(100));
          const std::string problem =
              problem_of([&] { publish_checkpoint(cell.path(), 1, at_step(200), 2, {}, disk); });
          if (!problem.empty()) {
            EXPECT_NE(problem.find("run the same command again"), std::string::npos) << problem;
          }
          const CheckpointSearch search = newest_checkpoint(cell.path(), "cafe");
          EXPECT_TRUE(search.rejected.empty()) << search.rejected.front();
          const std::int64_t step = search.found ? search.found->step : 0;
          return std::pair(problem.empty(), step);
        },
        [&](const PretendedFs& disk, const std::pair<bool, std::int64_t>& got) {
          const std::string call = disk.state().failed.name;
          failed.insert(call);
          EXPECT_TRUE(got.second == 200 || (got.second == 100 && !got.first)) << call;
        });
    EXPECT_TRUE(failed.contains("rename"));
  }
  // Where the call failed that takes away its name, the file in memory has kept it.
  for (const std::filesystem::path& file : real_fs().entries("/dev/shm")) {
    const std::string name = file.filename();
    if (name.starts_with(std::string(kScratchPrefix) + process_tag())) real_fs().remove(file);
  }
}

TEST(DiskFaults, FoldersAreMadeThoughTheirParentIsRemovedBetweenTwoCalls) {
  const TemporaryFolder folder;
  const auto live = folder.path() / "live";
  const PretendedFs disk;
  int removed = 0;
  disk.state().before = [&](const PretendedFs::Call& call) {
    const bool inside = call.name == "make_folder" && call.path == live / "run";
    if (inside && removed < 5 && std::filesystem::remove(live)) ++removed;
  };

  make_folders(live / "run", disk);

  EXPECT_EQ(removed, 5);
  EXPECT_TRUE(std::filesystem::is_directory(live / "run"));
}

}  // namespace disk_faults_test
}  // namespace depthgrid
