#include "sweeps/slurm/submission_lock.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace submission_lock_test {

using namespace std::chrono_literals;
const LeaseOptions kShort{.ttl = 300ms};

TEST(SubmissionLock, ALockWithoutAnOwnerIsTakenAtOnce) {
  const TemporaryFolder folder;
  LeaseKeeper leases(kShort);
  EXPECT_EQ(submission_lock(leases, folder.path(), [](double) { FAIL(); }).generation(), 1);
}

TEST(SubmissionLock, ASubmitterThatDiedOnAnotherMachineIsWaitedFor) {
  const TemporaryFolder folder;
  ProcessIdentity elsewhere = this_process();
  elsewhere.host = "elsewhere";
  elsewhere.boot_id = "another boot";
  std::ofstream(folder.path() / "gen-000001") << to_json(elsewhere);
  std::ofstream(folder.path() / "hb-000001") << "7\n";
  LeaseKeeper leases(kShort);
  double most = 0;
  const Lease lock = submission_lock(leases, folder.path(),
                                     [&](double seconds) { most = std::max(most, seconds); });
  EXPECT_EQ(lock.generation(), 2);
  EXPECT_NEAR(most, 0.36, 0.05) << "a lease and a little more";
}

TEST(SubmissionLock, OneAtWorkIsWaitedForAndThenNamed) {
  const TemporaryFolder folder;
  LeaseKeeper theirs(kShort), leases(kShort);
  std::optional<Lease> held = theirs.try_acquire(folder.path());
  ASSERT_TRUE(held);
  try {
    submission_lock(leases, folder.path(), [](double) {});
    FAIL() << "it is at work";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::TempFail);
    EXPECT_NE(std::string(error.what()).find("process " + std::to_string(this_process().pid)),
              std::string::npos)
        << error.what();
  }
  int looks = 0;
  const Lease lock = submission_lock(leases, folder.path(), [&](double) {
    if (++looks == 3) held->release();
  });
  EXPECT_EQ(lock.generation(), 2);
  EXPECT_EQ(looks, 3);
}

}  // namespace submission_lock_test
}  // namespace depthgrid
