#include "sweeps/slurm/submission_lock.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/pretended_clock.hpp"

namespace depthgrid {
namespace submission_lock_test {

using namespace std::chrono_literals;

LeaseOptions by(const PretendedClock& clock) {
  return {.ttl = 90s, .now = clock.steady()};
}

TEST(SubmissionLock, ALockWithoutAnOwnerIsTakenAtOnce) {
  const TemporaryFolder folder;
  const PretendedClock clock;
  LeaseKeeper leases(by(clock));
  const Lease lock = submission_lock(leases, folder.path(), [](double) { FAIL(); }, clock);
  EXPECT_EQ(lock.generation(), 1);
  EXPECT_EQ(clock.waits(), 0);
}

TEST(SubmissionLock, ASubmitterThatDiedOnAnotherMachineIsWaitedFor) {
  const TemporaryFolder folder;
  ProcessIdentity elsewhere = this_process();
  elsewhere.host = "elsewhere";
  elsewhere.boot_id = "another boot";
  std::ofstream(folder.path() / "gen-000001") << to_json(elsewhere);
  std::ofstream(folder.path() / "hb-000001") << "7\n";
  const PretendedClock clock;
  LeaseKeeper leases(by(clock));
  double most = 0;
  const Lease lock = submission_lock(
      leases, folder.path(), [&](double seconds) { most = std::max(most, seconds); }, clock);
  EXPECT_EQ(lock.generation(), 2);
  EXPECT_NEAR(most, 108, 1e-6) << "a lease and a little more";
  EXPECT_NEAR(clock.now(), 90, 2.1) << "as soon as the lease has lapsed";
}

TEST(SubmissionLock, OneAtWorkIsWaitedForAndThenNamed) {
  const TemporaryFolder folder;
  LeaseKeeper* at_work = nullptr;
  const PretendedClock clock([&at_work] { at_work->beat_all(); });
  LeaseKeeper theirs(by(clock)), leases(by(clock));
  at_work = &theirs;
  std::optional<Lease> held = theirs.try_acquire(folder.path());
  ASSERT_TRUE(held);
  try {
    submission_lock(leases, folder.path(), [](double) {}, clock);
    FAIL() << "it is at work";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::TempFail);
    const std::string said = error.what();
    EXPECT_NE(said.find("process " + std::to_string(this_process().pid)), said.npos) << said;
    EXPECT_NE(said.find("more than 110 s"), said.npos) << said;
  }
  EXPECT_NEAR(clock.now(), 110, 1e-6) << "the first poll after 1.2 leases";
  int looks = 0;
  const Lease lock = submission_lock(
      leases, folder.path(),
      [&](double) {
        if (++looks == 3) held->release();
      },
      clock);
  EXPECT_EQ(lock.generation(), 2);
  EXPECT_EQ(looks, 3);
}

TEST(SubmissionLock, ATickLooksOnceAndWaitsForNobody) {
  const TemporaryFolder folder;
  const PretendedClock clock;
  LeaseKeeper theirs(by(clock)), leases(by(clock));
  std::optional<Lease> held = theirs.try_acquire(folder.path());
  SubmissionLock lock(leases, folder.path(), 5);
  EXPECT_FALSE(lock.tick(5));
  EXPECT_FALSE(lock.tick(65));
  EXPECT_NEAR(lock.left(), 48, 1e-6);
  held->release();
  EXPECT_TRUE(lock.tick(200)) << "however late: it is free";
  EXPECT_EQ(clock.waits(), 0);
}

}  // namespace submission_lock_test
}  // namespace depthgrid
