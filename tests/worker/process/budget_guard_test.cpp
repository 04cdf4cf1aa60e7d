#include "worker/process/budget_guard.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace budget_guard_test {

constexpr double kBegin = 5000;  // on the caller's clock

class Guarded : public ::testing::Test {
 protected:
  BudgetGuard guard(const ValueMap& budget, int ranks = 1) {
    sweep_.run = make_config(budget);
    publish_plan(store_, sweep_);
    return {sweep_, store_, ranks, kBegin,
            [this](const std::string& why) { said_.push_back(why); }};
  }
  bool kept() const { return std::filesystem::exists(store_.root() / "supervisors"); }

  TemporaryFolder folder_;
  Sweep sweep_ = synthetic_sweep({1e-3});
  Store store_ = Store::open_or_create(folder_.path() / "store");
  std::vector<std::string> said_;
};

TEST_F(Guarded, TheRunIsStoppedOnceWhenItsTimeIsUsedUp) {
  BudgetGuard guard = this->guard({{"budget.wall_time", "0:10:00"}});
  for (double now = 0; now < 600; now += BudgetGuard::kPeriod) guard.tick(kBegin + now);
  EXPECT_TRUE(said_.empty());
  guard.tick(kBegin + 600);
  guard.tick(kBegin + 700);
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_[0].find("budget.wall_time"), std::string::npos) << said_[0];
}

TEST_F(Guarded, HoursAreThoseOfAllRanks) {
  BudgetGuard guard = this->guard({{"budget.gpu_hours", 1}}, 4);
  guard.tick(kBegin + 899);
  EXPECT_TRUE(said_.empty());
  guard.tick(kBegin + 900);
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(Guarded, TheFirstLookFindsWhatEarlierRunsHaveUsed) {
  keep_slots(store_.root(), {.name = "earlier", .wall = 600});
  BudgetGuard guard = this->guard({{"budget.wall_time", "0:10:00"}});
  guard.tick(kBegin);
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(Guarded, ItsTimeIsKeptOnceAMinuteAndAtItsEnd) {
  BudgetGuard guard = this->guard({{"budget.wall_time", "0:10:00"}}, 4);
  guard.tick(kBegin + 59);
  EXPECT_FALSE(kept());
  guard.tick(kBegin + 60);
  EXPECT_EQ(slot_sums(store_.root()).wall, 60);
  guard.end(kBegin + 75);
  const SlotSums sums = slot_sums(store_.root());
  EXPECT_EQ(sums.wall, 75);
  EXPECT_EQ(sums.seconds, 0) << "slots are those of a supervisor";
  EXPECT_EQ(sums.busy, 0);
}

TEST_F(Guarded, TimeThatHasNoBudgetIsNotKept) {
  BudgetGuard guard = this->guard({{"budget.gpu_hours", 1}});
  guard.tick(kBegin + 100);
  guard.end(kBegin + 200);
  EXPECT_FALSE(kept());
}

}  // namespace budget_guard_test
}  // namespace depthgrid
