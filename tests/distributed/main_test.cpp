#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "distributed/collective.hpp"
#include "tests/distributed/rank_env.hpp"

namespace depthgrid {
namespace {

std::unique_ptr<MpiEnv>& environment() {
  static std::unique_ptr<MpiEnv> env;
  return env;
}

TEST(MpiGroup, HasAsManyRanksAsTheTestAskedFor) {
  const char* const want = std::getenv("DEPTHGRID_EXPECT_RANKS");
  ASSERT_NE(want, nullptr) << "run it by ctest, or set DEPTHGRID_EXPECT_RANKS to the rank count";
  EXPECT_EQ(rank_env().world()->size(), std::stoi(want));  // a size-1 fallback passes vacuously
}

}  // namespace

MpiEnv& rank_env() {
  return *environment();
}

}  // namespace depthgrid

int main(int argc, char** argv) {
  depthgrid::environment() = std::make_unique<depthgrid::MpiEnv>(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  depthgrid::environment().reset();
  return failed;
}
