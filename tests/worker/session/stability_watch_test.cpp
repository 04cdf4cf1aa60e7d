#include "worker/session/stability_watch.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/core/grad_mode.h>

#include "core/base/error.hpp"
#include "tests/support/small_options.hpp"
#include "tests/support/toy_training.hpp"
#include "tests/worker/session/small_run.hpp"
#include "worker/session/job_session.hpp"

namespace depthgrid::testing {
namespace stability_watch_test {

ModelOptions state_space(bool dense) {
  ModelOptions o = small_options("time_indexed", 3);
  with_state_space(o);
  o.ssm.dense = dense;
  return o;
}

TEST(StabilityWatch, TellsOnceOfACellWhoseRecurrenceDoesNotForget) {
  const ModelOptions o = state_space(true);
  const Built built(o, {3, 4, 5});
  StabilityWatch watch(*built.model, o);
  EXPECT_TRUE(watch.check().empty());  // every model starts stable

  const at::NoGradGuard no_grad;
  built.parameter("block.ssm.A")[1].neg_();
  const auto news = watch.check();
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].first, 1U);
  EXPECT_GT(news[0].second, 1);
  EXPECT_TRUE(watch.check().empty());

  built.parameter("block.ssm.A")[1].neg_();
  EXPECT_TRUE(watch.check().empty());
  built.parameter("block.ssm.A")[1].neg_();
  EXPECT_EQ(watch.check().size(), 1U);  // again
}

TEST(StabilityWatch, DivergedCellsAndOtherModelsAreNoNews) {
  const ModelOptions o = state_space(true);
  const Built built(o, {3, 4, 5});
  const ModelOptions plain = small_options("standard", 1);
  const Built other(plain, {3});
  StabilityWatch watch(*built.model, o), nothing(*other.model, plain);
  const at::NoGradGuard no_grad;
  built.parameter("block.ssm.A")[2].fill_(std::numeric_limits<double>::quiet_NaN());

  EXPECT_TRUE(watch.check().empty());
  EXPECT_TRUE(nothing.check().empty());
}

TEST(StabilityWatch, ADiagonalTransitionThatDecaysByConstructionIsHeldToIt) {
  ModelOptions o = state_space(false);
  const Built built(o, {3, 4, 5});
  const at::NoGradGuard no_grad;
  for (const double far : {-50.0, 50.0}) {
    built.parameter("block.ssm.A").fill_(far);
    EXPECT_NO_THROW(StabilityWatch(*built.model, o).check()) << far;
  }
  // A model that is none of those, taken for one.
  const ModelOptions dense = state_space(true);
  const Built grown(dense, {3, 4, 5});
  grown.parameter("block.ssm.A").neg_();
  EXPECT_THROW(StabilityWatch(*grown.model, o).check(), Error);
}

// The second cell learns so fast that its recurrence soon grows; evaluations are at 0, 3 and 6.
TEST(StabilityService, TheLogOfACellWhoseRecurrenceDoesNotForgetSaysSo) {
  SmallRun small({.rates = "[1e-3, 5e-2]",
                  .set = {"model.family=time_indexed", "model.mixer=ssm", "model.ssm.A=dense"}});
  Claim claim = small.claim();
  ASSERT_EQ(JobSession(small.run, claim.job, claim.cells).run(), SessionEnd::Done);

  EXPECT_TRUE(small.store.completed(small.sweep.cells[1].id));
  EXPECT_EQ(small.events(1, EventKind::Diverged), 0U);
  EXPECT_EQ(small.events(0, EventKind::Warning), 0U);
  std::vector<JournalEvent> warnings;
  std::ranges::copy_if(small.history(1).events, std::back_inserter(warnings),
                       [](const JournalEvent& e) { return e.kind == EventKind::Warning; });
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].step, 3);
  EXPECT_GT(warnings[0].value, 1);
  EXPECT_NE(warnings[0].message.find("recurrence does not forget"), std::string::npos)
      << warnings[0].message;
}

}  // namespace stability_watch_test
}  // namespace depthgrid::testing
