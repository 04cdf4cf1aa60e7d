#include "storage/files/lease.hpp"

#include <csignal>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
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

TEST(Lease, OfASilentOwnerElsewhereIsTakenAfterTtlOnTheObserversClock) {
  TemporaryFolder cell;
  claim_from_afar(cell.path());
  LeaseKeeper keeper({.ttl = 150ms});
  const auto start = std::chrono::steady_clock::now();

  const auto lease = acquire_within(keeper, cell.path(), 5s);
  const auto waited = std::chrono::steady_clock::now() - start;

  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 2);
  EXPECT_GE(waited, 150ms);
}

TEST(Lease, OfASilentOwnerElsewhereIsNotTakenForTimeInWhichTheObserverStoodStill) {
  TemporaryFolder cell;
  claim_from_afar(cell.path());
  LeaseKeeper keeper({.ttl = 300ms});
  EXPECT_FALSE(keeper.try_acquire(cell.path()).has_value());

  std::this_thread::sleep_for(350ms);  // suspended, or hung in a file: the owner may be so too

  EXPECT_FALSE(keeper.try_acquire(cell.path()).has_value());
  EXPECT_TRUE(acquire_within(keeper, cell.path(), 5s).has_value());
}

TEST(Lease, OfASilentOwnerElsewhereIsTakenByAnObserverWhoSeldomLooks) {
  TemporaryFolder cell;
  claim_from_afar(cell.path());
  LeaseKeeper keeper({.ttl = 60ms});
  for (int look = 0; look < 3; ++look) {
    EXPECT_FALSE(keeper.try_acquire(cell.path()).has_value()) << look;
    std::this_thread::sleep_for(50ms);
  }

  EXPECT_TRUE(keeper.try_acquire(cell.path()).has_value());
}

TEST(Lease, OfAnOwnerElsewhereWhoBeatsIsNeverTaken) {
  TemporaryFolder cell;
  claim_from_afar(cell.path());
  LeaseKeeper keeper({.ttl = 200ms});

  for (int beat = 8; beat < 28; ++beat) {
    publish_replace(cell.path() / "hb-000001",
                    "00000000000000000" + std::to_string(beat) + " beats\n");
    EXPECT_FALSE(keeper.try_acquire(cell.path()).has_value());
    std::this_thread::sleep_for(20ms);
  }
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

TEST(Lease, AnUnreadableClaimIsTakenAfterTtlOnly) {
  TemporaryFolder cell;
  publish_once(cell.path() / "gen-000004", "garbage");
  LeaseKeeper keeper({.ttl = 60ms});
  EXPECT_FALSE(keeper.try_acquire(cell.path()).has_value());

  const auto lease = acquire_within(keeper, cell.path(), 5s);

  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->generation(), 5);
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

}  // namespace lease_test
}  // namespace depthgrid
