// No figure of a cell is recorded that was not judged as the losses of training are.
#include "worker/session/job_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/worker/session/small_run.hpp"
#include "worker/process/stop_signals.hpp"

namespace depthgrid::testing {
namespace job_evaluation_test {

SessionEnd train(SmallRun& small) {
  Claim claim = small.claim();
  return JobSession(small.run, claim.job, claim.cells).run();
}

CellStatus status(const SmallRun& small, std::size_t row) {
  const TableReader result(small.folder(row) / "result.h5");
  return static_cast<CellStatus>(result.read("cell_status").integer(0));
}

TEST(FinalLoss, IsJudgedAsThoseOfTraining) {
  for (const char* rates : {"[1e-3, 1e3]", "[1e-3, 1e30]"}) {
    SmallRun small({.rates = rates, .set = {"train.steps=1", "train.clip=none"}});
    ASSERT_EQ(train(small), SessionEnd::Done);

    const TableReader sound(small.folder(0) / "result.h5"), bad(small.folder(1) / "result.h5");
    EXPECT_EQ(status(small, 0), CellStatus::Completed);
    EXPECT_LT(sound.read("final_loss").number(2), 1000);
    EXPECT_EQ(status(small, 1), CellStatus::Diverged) << rates;
    EXPECT_EQ(bad.read("diverged_at").integer(0), 1) << rates;
    EXPECT_THROW(bad.read("final_loss"), Error) << "no figure that was not judged";
    EXPECT_EQ(small.events(1, EventKind::Diverged), 1U) << rates;
  }
}

// 1e3: the loss is finite, its perplexity is not. 1e30: no loss.
TEST(FinalLoss, WithoutABoundIsAndHasAPerplexityThatIsFinite) {
  for (const char* rates : {"[1e-3, 1e3]", "[1e-3, 1e30]"}) {
    SmallRun small(
        {.rates = rates, .set = {"train.steps=1", "train.clip=none", "train.diverged_above=none"}});
    ASSERT_EQ(train(small), SessionEnd::Done);
    EXPECT_EQ(status(small, 0), CellStatus::Completed);
    EXPECT_EQ(status(small, 1), CellStatus::Diverged) << rates;
  }
}

TEST(LastPeriodicEvaluation, IsJudgedWithoutAFinalOne) {
  SmallRun small({.rates = "[1e-3, 1e3]",
                  .set = {"train.steps=1", "train.clip=none", "eval.final_splits=[]"}});
  ASSERT_EQ(train(small), SessionEnd::Done);
  EXPECT_EQ(status(small, 0), CellStatus::Completed);
  EXPECT_EQ(status(small, 1), CellStatus::Diverged);
}

const SmallRun::Options& of_one_step() {
  static const SmallRun::Options options{
      .rates = "[1e-3, 1e3]", .set = {"train.steps=1", "train.clip=none", "eval.final_splits=[]"}};
  return options;
}

/// Stops after the last step and its evaluation, before the end of the cells.
[[noreturn]] void stop_before_the_end(const std::filesystem::path& folder) {
  watch_stop_signals();
  SmallRun small({of_one_step().rates, of_one_step().set, folder});
  Claim claim = small.claim();
  JobSession session(small.run, claim.job, claim.cells);
  std::raise(SIGTERM);
  std::exit(session.run() == SessionEnd::Stopped ? 75 : 1);
}

TEST(LastPeriodicEvaluation, IsJudgedByAProcessThatHasNotMadeIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TemporaryFolder scratch;
  setenv("DEPTHGRID_TEST_FOLDER", scratch.path().c_str(), 0);
  const std::filesystem::path folder = std::getenv("DEPTHGRID_TEST_FOLDER");
  EXPECT_EXIT(stop_before_the_end(folder), ::testing::ExitedWithCode(75), "");
  unsetenv("DEPTHGRID_TEST_FOLDER");
  SmallRun rest({of_one_step().rates, of_one_step().set, folder});
  ASSERT_EQ(rest.checkpoints(1), std::vector<std::int64_t>{1}) << "nothing is left to train";
  ASSERT_EQ(train(rest), SessionEnd::Done);
  EXPECT_EQ(status(rest, 0), CellStatus::Completed);
  EXPECT_EQ(status(rest, 1), CellStatus::Diverged);
}

/// The highest of the numbers; those that are none are passed over.
double highest(const VariableColumn& column) {
  double out = -1;
  for (std::size_t i = 0; i < column.items(); ++i) {
    if (!std::isnan(column.number(i))) out = std::max(out, column.number(i));
  }
  return out;
}

/// A cell of which only `variable` is above train.diverged_above. Where windows or seeds make
/// another figure the highest one, another seed is taken.
void only_this_is_too_high(const std::string& variable, const std::vector<std::string>& leaves) {
  for (int seed = 0; seed < 40; ++seed) {
    std::vector<std::string> set = leaves;
    set.push_back(fmt::format("seed={}", seed));
    SmallRun free({.rates = "[1e-4]", .set = set});
    Claim claim = free.claim({0});
    ASSERT_EQ(JobSession(free.run, claim.job, claim.cells).run(), SessionEnd::Done);
    const TableReader result(free.folder(0) / "result.h5");
    const double high = highest(result.read(variable));
    double others = 0;
    for (const char* name : {"train_loss", "eval_loss", "eval_loss_published", "eval_loss_mode",
                             "final_loss", "final_loss_mode"}) {
      if (name != variable && result.has(name)) {
        others = std::max(others, highest(result.read(name)));
      }
    }
    if (high < others + 1e-3) continue;
    set.push_back(fmt::format("train.diverged_above={}", (high + others) / 2));
    SmallRun bounded({.rates = "[1e-4]", .set = set});
    Claim again = bounded.claim({0});
    ASSERT_EQ(JobSession(bounded.run, again.job, again.cells).run(), SessionEnd::Done);
    EXPECT_EQ(status(bounded, 0), CellStatus::Diverged) << variable << ", seed " << seed;
    return;
  }
  FAIL() << "no seed makes " << variable << " the highest loss";
}

TEST(EveryFigure, IsJudged) {
  only_this_is_too_high("eval_loss_published",
                        {"train.steps=1", "eval.at_start=false", "eval.protocol=published_1",
                         "eval.windows=64", "eval.final_splits=[]"});
  only_this_is_too_high("final_loss_mode", {"train.steps=1", "eval.splits=[]", "model.family=tdt",
                                            "model.n_layers=4", "eval.mode_windows=8"});
}

}  // namespace job_evaluation_test
}  // namespace depthgrid::testing
