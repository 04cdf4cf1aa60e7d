#include "sweeps/plan/ready_jobs.hpp"

#include <gtest/gtest.h>

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

}  // namespace ready_jobs_test
}  // namespace depthgrid
