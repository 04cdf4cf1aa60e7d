#include "worker/session/early_stop.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace depthgrid {
namespace early_stop_test {

using Cells = std::vector<std::size_t>;

class EarlyStopping : public ::testing::Test {
 protected:
  EarlyStopping() {
    options_.min_delta = {0, 0, 0};
    options_.patience = {2, 1, std::nullopt};
  }

  static std::vector<EvalResult> losses(const std::vector<double>& values) {
    std::vector<EvalResult> out(values.size());
    for (std::size_t e = 0; e < values.size(); ++e) out[e].loss = values[e];
    return out;
  }

  TrainOptions options_;
  CellSet cells_{3};
};

TEST_F(EarlyStopping, RetiresEachCellAfterItsOwnPatience) {
  EarlyStop stop(options_, cells_);

  EXPECT_EQ(stop.see(10, losses({3, 3, 3})), Cells{});
  EXPECT_EQ(stop.see(20, losses({4, 4, 4})), Cells{1});
  EXPECT_EQ(stop.see(30, losses({4, 1, 4})), Cells{0});
  EXPECT_EQ(stop.see(40, losses({1, 1, 4})), Cells{});

  EXPECT_EQ(cells_.status(0), CellStatus::Completed);
  EXPECT_EQ(cells_.status(1), CellStatus::Completed);
  EXPECT_EQ(cells_.status(2), CellStatus::Running);
  EXPECT_EQ(stop.lowest(1).best, 3);  // what came after its end does not count
  EXPECT_EQ(stop.lowest(0).improved, std::vector<std::int64_t>{10});
}

TEST_F(EarlyStopping, KnowsAtWhichStepSomeCellWasAtItsBest) {
  EarlyStop stop(options_, cells_);
  stop.see(0, losses({5, 5, 5}));
  EXPECT_FALSE(stop.improved_at(0)) << "no checkpoint holds the initial weights";
  stop.see(10, losses({3, 3, 3}));
  EXPECT_TRUE(stop.improved_at(10));
  stop.see(20, losses({4, 4, 2}));
  EXPECT_TRUE(stop.improved_at(20));
  stop.see(30, losses({4, 4, 2}));
  EXPECT_FALSE(stop.improved_at(30));
}

TEST_F(EarlyStopping, PatienceAsksForAMarginButTheBestIsTheLowest) {
  options_.min_delta = {0.5, 0, 0};
  options_.patience = {4, 4, 4};
  EarlyStop stop(options_, cells_);

  stop.see(1, losses({3, 3, 3}));
  stop.see(2, losses({2.6, 2.6, 3}));
  stop.see(3, losses({2.4, 2.5, 3}));

  EXPECT_EQ(stop.lowest(0).improved, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(stop.lowest(0).patient_since, 3);
  EXPECT_EQ(stop.lowest(1).improved, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(stop.lowest(2).improved, std::vector<std::int64_t>{1});  // equal is not lower
}

TEST_F(EarlyStopping, WithoutADevSplitAllGoOn) {
  EarlyStop stop(options_, cells_);
  for (std::int64_t step = 1; step < 9; ++step) EXPECT_EQ(stop.see(step, {}), Cells{});
  EXPECT_FALSE(stop.improved_at(1));
  EXPECT_TRUE(std::isnan(stop.lowest(0).best));
}

/// Dev losses of evaluations after 10, 20, ... steps, as earlier attempts recorded them.
CellHistory recorded(const std::vector<double>& losses) {
  CellHistory history;
  MergedRows eval;
  eval.kind = {"eval", {{"eval_loss", 4}, {"eval_tokens", 4}}};
  eval.rows.width = 8;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    eval.rows.steps.push_back(10 * (static_cast<std::int64_t>(i) + 1));
    for (const double x : {0.0, losses[i], 9.0, 0.0, 0.0, 64.0, 64.0, 0.0}) {
      eval.rows.values.push_back(x);
    }
  }
  history.kinds.push_back(eval);
  return history;
}

TEST_F(EarlyStopping, AResumedCellHasStoppedWhereItHadStoppedBefore) {
  EarlyStop stop(options_, cells_);

  EXPECT_EQ(stop.replay(0, recorded({3, 4, 4, 1}), 40), 30);

  EXPECT_EQ(cells_.status(0), CellStatus::Completed);
  EXPECT_EQ(cells_.status(1), CellStatus::Running);
}

TEST_F(EarlyStopping, OnlyEvaluationsBeforeTheCheckpointCount) {
  EarlyStop stop(options_, cells_);

  EXPECT_EQ(stop.replay(0, recorded({3, 4, 4}), 25), std::nullopt);
  EXPECT_EQ(stop.replay(2, {}, 25), std::nullopt);

  EXPECT_EQ(cells_.status(0), CellStatus::Running);
  EXPECT_EQ(stop.see(30, losses({4, 5, 5})), Cells{0});  // its patience goes on from there
}

}  // namespace early_stop_test
}  // namespace depthgrid
