#include "worker/run/team_work.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/worker/session/small_run.hpp"

namespace depthgrid::testing {
namespace team_work_test {

/// The claim of a cell as if it had a checkpoint of step 40, by that many ranks on that device.
Claim claim_of(SmallRun& small, double ranks, const char* device) {
  Claim claim = small.claim({0});
  LoadedCheckpoint& state = claim.cells.front().state.emplace();
  state.step = 40;
  state.numbers["ranks"] = ranks;
  state.texts["device"] = device;
  return claim;
}

std::string refusal(const SmallRun& small, const Claim& claim) {
  try {
    require_exact_resume(small.run, claim);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadConfig);
    return e.what();
  }
  return "";
}

TEST(ExactResume, AsksForTheRanksAndTheDeviceOfTheAttemptBefore) {
  SmallRun small;
  EXPECT_EQ(refusal(small, claim_of(small, 1, "cpu")), "");
  const std::string ranks = refusal(small, claim_of(small, 2, "cpu"));
  EXPECT_NE(ranks.find("up to step 40 with 2 rank(s) per job, this run has 1"), std::string::npos);
  EXPECT_NE(ranks.find("--set resources.ranks_per_job=2"), std::string::npos) << ranks;
  EXPECT_NE(ranks.find("--allow-inexact"), std::string::npos) << ranks;
  const std::string device = refusal(small, claim_of(small, 1, "cuda"));
  EXPECT_NE(device.find("with device cuda, this run has cpu"), std::string::npos) << device;
}

TEST(ExactResume, NotIfTheUserAllowsIt) {
  SmallRun small({.set = {"resources.allow_inexact=true"}});
  EXPECT_EQ(refusal(small, claim_of(small, 2, "cuda")), "");
}

TEST(ExactResume, ACellThatBeginsMayHaveAnyTeam) {
  SmallRun small;
  EXPECT_EQ(refusal(small, small.claim()), "");
}

}  // namespace team_work_test
}  // namespace depthgrid::testing
