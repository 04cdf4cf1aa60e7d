#include "storage/files/lease.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/folder_watch.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace lease_test {

using namespace std::chrono_literals;

/// Calls try_acquire until it succeeds or `patience` is over.
std::optional<Lease> acquire_within(LeaseKeeper& keeper, const std::filesystem::path& cell,
                                    std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (auto lease = keeper.try_acquire(cell)) return lease;
    std::this_thread::sleep_for(5ms);
  }
  return std::nullopt;
}

/// A claim of generation 1 by an owner on another machine, who beats no more.
void claim_from_afar(const std::filesystem::path& cell) {
  ProcessIdentity other = this_process();
  other.host = "elsewhere";
  other.boot_id = "another-boot";
  publish_once(cell / "gen-000001", to_json(other));
  publish_once(cell / "hb-000001", "0000000000000000007 beats\n");
}

TEST(Lease, OfAFreeCellIsGivenOnce) {
  TemporaryFolder cell;
  LeaseKeeper first;
  LeaseKeeper second;

  const auto lease = first.try_acquire(cell.path());

  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 1);
  EXPECT_FALSE(lease->deposed());
  EXPECT_FALSE(first.try_acquire(cell.path()).has_value());
  EXPECT_FALSE(second.try_acquire(cell.path()).has_value());
  EXPECT_EQ(lease_state(cell.path()).kind, LeaseState::Kind::Held);
  EXPECT_EQ(lease_state(cell.path()).owner.pid, getpid());
}

TEST(Lease, ReleasedMayBeTakenAtOnce) {
  TemporaryFolder cell;
  LeaseKeeper first;
  LeaseKeeper second;
  EXPECT_EQ(lease_state(cell.path()).kind, LeaseState::Kind::Free);
  first.try_acquire(cell.path())->release();
  EXPECT_EQ(lease_state(cell.path()).kind, LeaseState::Kind::Free);
  EXPECT_EQ(lease_state(cell.path()).generation, 1);

  const auto lease = second.try_acquire(cell.path());

  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 2);
  EXPECT_TRUE(std::filesystem::exists(cell.path() / "gen-000001"));
}

TEST(Lease, GoesBackWhenItsObjectEnds) {
  TemporaryFolder cell;
  LeaseKeeper keeper;
  {
    const auto lease = keeper.try_acquire(cell.path());
  }

  EXPECT_EQ(keeper.try_acquire(cell.path())->generation(), 2);
}

TEST(Lease, OfAKilledProcessOnThisMachineIsTakenAtOnce) {
  TemporaryFolder cell;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    LeaseKeeper keeper;
    const auto lease = keeper.try_acquire(cell.path());
    if (write(pipe_ends[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  LeaseKeeper keeper;
  EXPECT_FALSE(keeper.try_acquire(cell.path()).has_value());
  publish_replace(scratch_name(cell.path()), "left behind");
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_EQ(lease_state(cell.path()).kind, LeaseState::Kind::Dead);

  const auto lease = keeper.try_acquire(cell.path());

  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 2);
  for (const auto& entry : std::filesystem::directory_iterator(cell.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".tmp-")) << entry.path();
  }
}

/// An observer whose time passes only where a test says so.
class Observer : public ::testing::Test {
 protected:
  std::optional<Lease> observe_after(std::chrono::milliseconds pause) {
    clock_ += pause;
    return keeper_.try_acquire(cell_.path());
  }

  TemporaryFolder cell_;
  std::chrono::steady_clock::time_point clock_ = std::chrono::steady_clock::now();
  LeaseKeeper keeper_{{.ttl = 90min, .now = [this] { return clock_; }}};
};

TEST_F(Observer, TakesTheCellOfASilentOwnerElsewhereAfterTtl) {
  claim_from_afar(cell_.path());
  EXPECT_FALSE(observe_after(0min).has_value());
  for (int minute = 1; minute < 90; ++minute) EXPECT_FALSE(observe_after(1min).has_value());

  const auto lease = observe_after(1min);

  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 2);
}

TEST_F(Observer, DoesNotCountTimeInWhichItStoodStillItself) {
  claim_from_afar(cell_.path());
  EXPECT_FALSE(observe_after(0min).has_value());
  // Suspended, or hung in a file: the owner may be so too. Each look counts for a third of ttl.
  EXPECT_FALSE(observe_after(24h).has_value());
  EXPECT_FALSE(observe_after(24h).has_value());
  EXPECT_TRUE(observe_after(24h).has_value());
}

TEST_F(Observer, NeverTakesTheCellOfAnOwnerElsewhereWhoBeats) {
  claim_from_afar(cell_.path());
  for (int beat = 8; beat < 99; ++beat) {
    publish_replace(cell_.path() / "hb-000001", fmt::format("{:019} beats\n", beat));
    EXPECT_FALSE(observe_after(29min).has_value());
  }
}

TEST_F(Observer, TakesAnUnreadableClaimAfterTtlOnly) {
  publish_once(cell_.path() / "gen-000004", "garbage");
  EXPECT_FALSE(observe_after(0min).has_value());
  EXPECT_FALSE(observe_after(30min).has_value());
  EXPECT_FALSE(observe_after(30min).has_value());

  const auto lease = observe_after(30min);

  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 5);
}

TEST(Lease, WhoseFirstHeartbeatCannotBeWrittenIsNotClaimed) {
  TemporaryFolder cell;
  LeaseKeeper keeper;
  {
    // A folder comes into the heartbeat's way as soon as the claim is there.
    const FolderWatch watch(cell.path(), DN_CREATE, [&] {
      if (std::filesystem::exists(cell.path() / "gen-000001")) {
        ::mkdir((cell.path() / "hb-000001").c_str(), 0750);
      }
    });
    if (!watch.works()) GTEST_SKIP() << "this kernel does not signal changes of folders";
    EXPECT_THROW(keeper.try_acquire(cell.path()), StorageError);
  }
  EXPECT_EQ(lease_state(cell.path()).kind, LeaseState::Kind::Free);

  std::filesystem::remove(cell.path() / "hb-000001");
  EXPECT_TRUE(keeper.try_acquire(cell.path()).has_value()) << "nobody waits for the lost claim";
}

TEST(Lease, IsGivenUpByItsOwnerBeforeOthersMayTakeIt) {
  TemporaryFolder cell;
  auto clock = std::chrono::steady_clock::now();
  LeaseKeeper keeper({.ttl = 1h, .now = [&] { return clock; }});
  auto lease = keeper.try_acquire(cell.path());
  ASSERT_TRUE(lease.has_value());
  const std::filesystem::path heartbeat = cell.path() / "hb-000001";
  std::filesystem::rename(heartbeat, cell.path() / "aside");
  std::filesystem::create_directory(heartbeat);  // now every beat fails

  clock += 29min;
  keeper.beat_all();
  EXPECT_FALSE(lease->silent()) << "a disturbance of the filesystem may pass";
  std::filesystem::remove(heartbeat);
  keeper.beat_all();  // it has passed
  std::filesystem::remove(heartbeat);
  std::filesystem::create_directory(heartbeat);
  clock += 29min;
  keeper.beat_all();
  EXPECT_FALSE(lease->silent());
  clock += 2min;
  keeper.beat_all();
  EXPECT_TRUE(lease->silent());
}

TEST(Lease, LivingOwnersBeatFasterThanTtl) {
  TemporaryFolder cell;
  // Long against the pauses of a busy machine: a thread that sleeps past the ttl is deposed by
  // right.
  LeaseKeeper owner({.ttl = 1500ms});
  LeaseKeeper observer({.ttl = 1500ms});
  const auto lease = owner.try_acquire(cell.path());

  EXPECT_FALSE(acquire_within(observer, cell.path(), 3s).has_value());

  EXPECT_FALSE(lease->deposed());
}

TEST(Lease, AStoppedOwnerFindsItselfDeposedWhenItWakesUp) {
  TemporaryFolder cell;
  int up[2];
  int down[2];
  ASSERT_EQ(pipe(up), 0);
  ASSERT_EQ(pipe(down), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    LeaseKeeper keeper({.ttl = 90ms});
    auto lease = keeper.try_acquire(cell.path());
    if (write(up[1], "x", 1) != 1) _exit(1);
    char byte = 0;
    if (read(down[0], &byte, 1) != 1) _exit(2);  // stopped and woken up meanwhile
    for (int i = 0; i < 200 && !lease->deposed(); ++i) std::this_thread::sleep_for(10ms);
    if (!lease->deposed() || !lease->check_deposed()) _exit(3);
    lease->release();
    _exit(42);
  }
  char byte = 0;
  ASSERT_EQ(read(up[0], &byte, 1), 1);
  kill(pid, SIGSTOP);
  LeaseKeeper keeper({.ttl = 90ms});
  const auto lease = acquire_within(keeper, cell.path(), 10s);
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 2);
  kill(pid, SIGCONT);
  ASSERT_EQ(write(down[1], "x", 1), 1);
  int status = 0;
  waitpid(pid, &status, 0);

  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_FALSE(lease->deposed());
  EXPECT_EQ(lease_state(cell.path()).generation, 2);
  EXPECT_EQ(lease_state(cell.path()).kind, LeaseState::Kind::Held);
}

TEST(Lease, OfManyRacingProcessesExactlyOneWinsEachGenerationOfEachCell) {
  TemporaryFolder store;
  constexpr int kProcesses = 6;
  constexpr int kCells = 12;
  constexpr int kGenerations = 4;  // each cell is to be taken and released so often
  for (int c = 0; c < kCells; ++c) {
    std::filesystem::create_directory(store.path() / std::to_string(c));
  }
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t pid = fork();
    if (pid == 0) {
      LeaseKeeper keeper;
      std::ofstream log(store.path() / ("log" + std::to_string(p)));
      int unfinished = kCells;
      while (unfinished > 0) {
        unfinished = 0;
        for (int c = 0; c < kCells; ++c) {
          const auto cell = store.path() / std::to_string(c);
          if (highest_claim(cell) >= kGenerations) continue;
          ++unfinished;
          if (const auto lease = keeper.try_acquire(cell))
            log << c << " " << lease->generation() << "\n";
        }
      }
      log.close();
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    waitpid(pid, &status, 0);
    ASSERT_EQ(status, 0);
  }

  std::map<std::pair<int, int>, int> winners;
  for (int p = 0; p < kProcesses; ++p) {
    std::ifstream log(store.path() / ("log" + std::to_string(p)));
    for (int c = 0, g = 0; log >> c >> g;) ++winners[{c, g}];
  }

  for (int c = 0; c < kCells; ++c) {
    for (int g = 1; g <= kGenerations; ++g) {
      EXPECT_EQ((winners[{c, g}]), 1) << "cell " << c << " generation " << g;
    }
  }
}

TEST(Lease, OfRacingThreadsOneWins) {
  TemporaryFolder cell;
  LeaseKeeper keeper;
  for (int round = 1; round <= 20; ++round) {
    std::vector<std::thread> threads;
    std::vector<std::optional<Lease>> leases(4);
    for (auto& lease : leases) {
      threads.emplace_back([&] { lease = keeper.try_acquire(cell.path()); });
    }
    for (std::thread& t : threads) t.join();
    int won = 0;
    for (const auto& lease : leases) won += lease && lease->generation() == round ? 1 : 0;
    ASSERT_EQ(won, 1) << round;
  }
}

TEST(Lease, OfAnotherUserIsLeftAloneUnlessTheStoreIsShared) {
  TemporaryFolder cell;
  LeaseKeeper().try_acquire(cell.path());  // released at once
  const PretendedFs disk;
  const Fs& shared = disk.with(FileAccess::Group);
  disk.state().owners[cell.path() / "gen-000001"] = 4000000001;

  try {
    LeaseKeeper({}, disk).try_acquire(cell.path());
    FAIL() << "taken from another user";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::CantCreate);
    for (const char* words : {"gen-000001", "uid 4000000001", "--shared-group", "chown"}) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(highest_claim(cell.path()), 1);
  const auto taken = LeaseKeeper({}, shared).try_acquire(cell.path());
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->generation(), 2);
}

TEST(Lease, WhereAllFilesAreOneUsersIsTakenByAnother) {
  TemporaryFolder cell;
  LeaseKeeper().try_acquire(cell.path());
  const PretendedFs disk;  // as a file server that maps users, or root who works for somebody
  disk.state().owners[cell.path() / "gen-000001"] = 4000000001;
  disk.state().owners[cell.path()] = 4000000001;

  EXPECT_TRUE(LeaseKeeper({}, disk).try_acquire(cell.path()));
}

TEST(Lease, WhoseClaimGotItsNameBeforeAnErrorIsGivenBack) {
  TemporaryFolder cell;
  const PretendedFs disk;
  disk.state().before = [&](const PretendedFs::Call& call) {
    if (call.name == "sync_folder") disk.fail(0, EIO);
  };

  EXPECT_THROW(LeaseKeeper({}, disk).try_acquire(cell.path()), StorageError);

  EXPECT_EQ(highest_claim(cell.path()), 0) << "its process lives: others would wait for it";
  EXPECT_TRUE(LeaseKeeper().try_acquire(cell.path()));
}

}  // namespace lease_test
}  // namespace depthgrid
