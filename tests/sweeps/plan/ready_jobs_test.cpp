#include "sweeps/plan/ready_jobs.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace ready_jobs_test {

FusedJob job(const std::string& id, std::int64_t ranks, std::vector<std::string> after = {}) {
  FusedJob out;
  out.id = id;
  out.ranks = ranks;
  out.after = std::move(after);
  return out;
}

TEST(ReadyJobs, TheFirstThatFitsIsTaken) {
  ReadyJobs ready({job("wide", 4), job("small", 1), job("other", 1)});
  EXPECT_EQ(ready.take(2), 1U);
  EXPECT_EQ(ready.take(4), 0U);
  EXPECT_EQ(ready.take(4), 2U);
  EXPECT_FALSE(ready.take(4));
}

TEST(ReadyJobs, AJobWaitsForAllItsSources) {
  ReadyJobs ready({job("last", 1, {"a", "b", "done long ago"}), job("a", 1), job("b", 1)});
  EXPECT_EQ(ready.take(1), 1U);
  EXPECT_EQ(ready.take(1), 2U);
  ready.done(1);
  EXPECT_FALSE(ready.take(1));
  ready.done(2);
  EXPECT_EQ(ready.take(1), 0U);
  EXPECT_FALSE(ready.all_done());
  ready.done(0);
  EXPECT_TRUE(ready.all_done());
}

TEST(ReadyJobs, AnInterruptedJobKeepsItsPlace) {
  ReadyJobs ready({job("a", 1), job("b", 1)});
  EXPECT_EQ(ready.take(1), 0U);
  ready.give_back(0);
  EXPECT_EQ(ready.take(1), 0U);
}

using Needs = std::vector<JobNeeds>;

TEST(ReadyJobs, AJobRestsUntilItsTimeAndHasItsOldPlaceThen) {
  ReadyJobs ready(Needs(2));
  ASSERT_EQ(ready.take(1, 0), 0U);
  ready.give_back(0, 10);
  EXPECT_EQ(ready.take(1, 9.5), 1U);
  EXPECT_FALSE(ready.take(1, 9.5));
  EXPECT_TRUE(ready.any_within(1)) << "it rests";
  ready.give_back(1, 9.5);
  EXPECT_EQ(ready.take(1, 10), 0U);
  ready.give_back(0, 30);
  ready.give_back(0, 20);
  ASSERT_EQ(ready.take(1, 20), 0U) << "the newest time counts";
}

TEST(ReadyJobs, TheMemoryOfAllThatRunIsLimited) {
  ReadyJobs ready(Needs{{.bytes = 2}, {.bytes = 2}, {.bytes = 1}, {.bytes = 9}, {.bytes = kNaN}},
                  3);
  EXPECT_EQ(ready.take(8), 0U);
  EXPECT_EQ(ready.take(8), 2U) << "the second does not fit beside the first";
  EXPECT_EQ(ready.take(8), 4U) << "one of unknown bytes fits";
  ready.done(4);
  ready.done(0);
  EXPECT_EQ(ready.take(8), 1U);
  EXPECT_FALSE(ready.take(8));
  ready.done(1);
  EXPECT_FALSE(ready.take(8));
  ready.done(2);
  EXPECT_EQ(ready.take(8), 3U) << "alone, any job fits";
}

TEST(ReadyJobs, NothingRunsBesideAJobThatMustBeAlone) {
  ReadyJobs ready(Needs{{}, {.ranks = 2, .alone = true}, {}});
  EXPECT_EQ(ready.take(4), 0U);
  EXPECT_EQ(ready.take(4), 2U) << "the second waits until nothing runs";
  ready.done(0);
  EXPECT_FALSE(ready.take(4));
  ready.give_back(2);
  EXPECT_EQ(ready.take(4), 1U);
  EXPECT_FALSE(ready.take(4)) << "the third waits for it";
  ready.done(1);
  EXPECT_EQ(ready.take(4), 2U);
}

TEST(ReadyJobs, WhatWaitsForAJobWaitsForEachOfItsParts) {
  ReadyJobs ready(Needs{{}, {.after = {0}}, {}});
  ASSERT_EQ(ready.take(1), 0U);
  ready.replace(0, Needs(2), 5);
  EXPECT_EQ(ready.size(), 5U);
  EXPECT_EQ(ready.take(1, 0), 2U);
  EXPECT_FALSE(ready.take(1, 4)) << "parts have their time, too";
  EXPECT_EQ(ready.take(1, 5), 3U);
  ready.replace(3, Needs(1));
  EXPECT_EQ(ready.take(1, 5), 4U);
  EXPECT_EQ(ready.take(1, 5), 5U) << "a part of a part";
  ready.done(4);
  EXPECT_FALSE(ready.take(1, 5));
  ready.done(5);
  EXPECT_EQ(ready.take(1, 5), 1U);
  ready.done(1);
  EXPECT_FALSE(ready.all_done());
  ready.done(2);
  EXPECT_TRUE(ready.all_done());
}

TEST(ReadyJobs, AJobThatIsReopenedIsWaitedForAnew) {
  ReadyJobs ready(Needs{{}, {.after = {0}}, {.after = {0}}});
  ready.done(0);  // by somebody else
  EXPECT_EQ(ready.take(1), 1U);
  ready.reopen(0);
  EXPECT_EQ(ready.take(1), 0U);
  EXPECT_FALSE(ready.take(1)) << "the third has not begun, and waits";
  ready.give_back(1);
  EXPECT_FALSE(ready.take(1)) << "as does the second, interrupted";
  ready.done(0);
  ready.done(0);
  EXPECT_EQ(ready.take(1), 1U);
  EXPECT_EQ(ready.take(1), 2U);
  ready.done(1);
  ready.done(2);
  EXPECT_TRUE(ready.all_done());
}

TEST(ReadyJobs, WhetherAnythingIsLeftForSoManyRanks) {
  ReadyJobs ready(Needs{{.ranks = 2}, {.after = {0}}, {}});
  EXPECT_TRUE(ready.is_awaited(0));
  EXPECT_FALSE(ready.is_awaited(2)) << "nothing waits for it";
  EXPECT_TRUE(ready.any_within(1));
  ready.done(2);
  EXPECT_FALSE(ready.any_within(1)) << "what waits for a job without room has none, either";
  EXPECT_TRUE(ready.any_within(2));
  ASSERT_EQ(ready.take(2), 0U);
  EXPECT_TRUE(ready.is_taken(0));
  EXPECT_FALSE(ready.is_awaited(0)) << "it runs";
  EXPECT_FALSE(ready.any_within(2));
}

}  // namespace ready_jobs_test
}  // namespace depthgrid
