#include "sweeps/plan/use_count.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/pretended_processes.hpp"

namespace depthgrid {
namespace use_count_test {

constexpr double kBegin = 5000;  // on the caller's clock

class Counted : public ::testing::Test {
 protected:
  /// @param budget  of this leaf.
  void limit(const std::string& leaf, Value value) {
    sweep_.run = make_config({{leaf, std::move(value)}});
  }
  UseCount begun() {
    publish_plan(store_, sweep_);
    return {sweep_, store_, true, kBegin, processes_};
  }
  std::filesystem::path record() const {
    return store_.root() / "supervisors" / "pretended-01234567-89ab-4cde-8f01-23456789abcd.json";
  }

  TemporaryFolder folder_;
  Sweep sweep_ = [] {
    Sweep out = synthetic_sweep({1e-3});
    out.run = make_config({});
    return out;
  }();
  Store store_ = Store::open_or_create(folder_.path() / "store");
  PretendedProcesses processes_{[](const PretendedProcesses::Asked&) { return CommandAnswer{}; }};
};

TEST_F(Counted, TheRecordHasTheTimeOfWhatWasUsedMeanwhile) {
  UseCount use = begun();
  use.count(kBegin + 10, {});
  use.count(kBegin + 30, {.slots = 4, .busy = 3, .ranks = 3});
  use.count(kBegin + 40, {.slots = 4, .busy = 1, .ranks = 1});
  use.keep(true);
  ASSERT_TRUE(std::filesystem::exists(record()));
  const SlotSums sums = slot_sums(store_.root());
  EXPECT_EQ(sums.wall, 40);
  EXPECT_EQ(sums.seconds, 4 * 30);
  EXPECT_EQ(sums.busy, 3 * 20 + 10);
  EXPECT_TRUE(sums.cards);
}

TEST_F(Counted, TheRecordIsWrittenOnceAMinuteAndWhenAsked) {
  UseCount use = begun();
  const auto kept = [&](double now, bool at_once) {
    use.count(kBegin + now, {});
    use.keep(at_once);
    return slot_sums(store_.root()).wall;
  };
  EXPECT_EQ(kept(59, false), 0);
  EXPECT_EQ(kept(61, false), 61);
  EXPECT_EQ(kept(120, false), 61);
  EXPECT_EQ(kept(121, false), 121);
  EXPECT_EQ(kept(122, true), 122);
  EXPECT_EQ(kept(181, false), 122);
}

TEST_F(Counted, ARecordThatCannotBeWrittenStopsNothing) {
  UseCount use = begun();
  publish_replace(store_.root() / "supervisors", std::string_view("no folder\n"));
  use.count(kBegin + 70, {});
  EXPECT_NO_THROW(use.keep(false));
}

TEST_F(Counted, HoursAreThoseOfTheRanksAtWork) {
  limit("budget.gpu_hours", 0.01);  // 36 s
  UseCount use = begun();
  use.count(kBegin + 100, {.slots = 8});
  EXPECT_FALSE(use.spent_now()) << "nothing ran";
  use.count(kBegin + 108, {.slots = 8, .busy = 4, .ranks = 4});
  EXPECT_FALSE(use.spent_now());
  use.count(kBegin + 110, {.slots = 8, .busy = 4, .ranks = 4});
  const auto why = use.spent_now();
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("budget.gpu_hours"), why->npos) << *why;
}

TEST_F(Counted, ABudgetIsUsedUpOnceAndStaysSo) {
  limit("budget.wall_time", "0:01:00");
  UseCount use = begun();
  use.count(kBegin + 59, {});
  EXPECT_FALSE(use.spent_now());
  EXPECT_FALSE(use.spent());
  use.count(kBegin + 60, {});
  EXPECT_TRUE(use.spent_now());
  EXPECT_FALSE(use.spent_now()) << "it has been said";
  EXPECT_TRUE(use.spent());
}

TEST_F(Counted, WhatEarlierRunsHaveKeptCounts) {
  limit("budget.wall_time", "0:01:00");
  keep_slots(store_.root(), {.name = "earlier", .wall = 50});
  UseCount use = begun();
  use.count(kBegin + 9, {});
  EXPECT_FALSE(use.spent_now());
  use.count(kBegin + 10, {});
  EXPECT_TRUE(use.spent_now());
}

TEST_F(Counted, TheStoreIsMeasuredOnceAMinute) {
  limit("budget.store_bytes", "1M");
  UseCount use = begun();
  std::ofstream(store_.root() / "large") << std::string(1 << 20, 'x');
  use.count(kBegin + 59, {});
  EXPECT_FALSE(use.spent_now());
  use.count(kBegin + 60, {});
  const auto why = use.spent_now();
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("budget.store_bytes"), why->npos) << *why;
}

TEST_F(Counted, WithoutABudgetNothingIsUsedUp) {
  UseCount use = begun();
  use.count(kBegin + 1e9, {.slots = 1e3, .busy = 1e3, .ranks = 1e3});
  EXPECT_FALSE(use.spent_now());
  EXPECT_FALSE(use.spent());
}

}  // namespace use_count_test
}  // namespace depthgrid
