#include "core/train/trainer.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <torch/types.h>

namespace depthgrid {
namespace trainer_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rows without text whose control is a line: -1 in the first row of a batch, 1 in its last.
class Line final : public BatchSource {
 public:
  explicit Line(std::int64_t batch) : batch_(batch) {}
  Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const override {
    const at::Tensor place = torch::arange(first_row, first_row + rows, at::kFloat);
    const at::Tensor u = 2 * place / static_cast<double>(batch_ - 1) - 1;
    const at::Tensor windows = torch::zeros({1, 1, 1}, at::kLong).expand({2, rows, tokens() + 1});
    return {windows, step, first_row, {u.view({1, rows, 1, 1}).expand({2, rows, tokens(), 1})}};
  }
  std::int64_t tokens() const override { return 3; }

 private:
  std::int64_t batch_;
};

/// Fits weight · u + bias to 3 u - 1 by least squares; cell 1 counts the bias besides.
class Fit final : public Objective {
 public:
  explicit Fit(ParameterSource& source)
      : weight_(source.parameter({.name = "weight", .shape = {1}})),
        bias_(source.parameter({.name = "bias", .shape = {1}})) {}

  Losses losses(const Batch& batch) override {
    steps.push_back(batch.step);
    const at::Tensor& u = batch.control.u;
    const auto wide = [](const at::Tensor& p) { return p.view({2, 1, 1, 1}); };
    const at::Tensor off = wide(weight_) * u + wide(bias_) - (3 * u - 1);
    const at::Tensor loss = off.square().sum({1, 2, 3});
    const auto entries = static_cast<double>(u.size(1) * u.size(2));
    const at::Tensor size = bias_.square().sum(1) * entries;
    return {loss + size * torch::tensor({0.0, 1.0}), loss, {size}};
  }
  std::vector<std::string_view> loss_parts() const override { return {"size"}; }

  std::vector<std::int64_t> steps;

 private:
  at::Tensor weight_, bias_;  // (E, 1)
};

TrainOptions recipe(std::int64_t accumulation) {
  TrainOptions t;
  t.cells = 2;
  t.steps = 400;
  t.batch = 6;
  t.accumulation = accumulation;
  t.scalars = {{0.9, 0.9}, {0.99, 0.99}, {1e-8, 1e-8}};  // beta1, beta2, eps of both cells
  for (std::size_t e = 0; e < 2; ++e) {
    t.clip.push_back(kInfinity);
    t.loss_scale.push_back(1);
    t.diverged_above.push_back(kInfinity);
    t.schedule.push_back({.kind = ScheduleKind::Cosine, .steps = t.steps});
    t.lr.insert(t.lr.end(), kParameterGroupCount, 0.1);
    t.weight_decay.insert(t.weight_decay.end(), kParameterGroupCount, 0.0);
  }
  return t;
}

struct Fitting {
  explicit Fitting(std::int64_t accumulation) : Fitting(recipe(accumulation)) {}
  explicit Fitting(TrainOptions o) : options(std::move(o)) {}

  static ParameterLayout layout() {
    ParameterLayout out;
    Fit fit(out);
    return out;
  }

  TrainOptions options;
  Arena arena{layout(), {1, 2}, at::kFloat};
  Fit fit{arena};
  CellOptimizer optimizer{arena, options};
  Line line{options.batch};
  NoSync sync;
  CellSet cells{2};
  Trainer trainer{fit, arena, optimizer, line, sync, cells, options};
};

TEST(Trainer, MinimisesAnyObjectiveOverBatchesThatCarryAControl) {
  Fitting f(1);

  const StepReport first = f.trainer.step(1);
  for (std::int64_t step = 2; step <= f.options.steps; ++step) f.trainer.step(step);

  // Mean of (3u - 1)² over u = -1, -0.6, …, 1, of mean square 7/15.
  EXPECT_NEAR(first.loss[0], 9 * 7.0 / 15 + 1, 1e-5);
  EXPECT_EQ(first.loss, first.total);
  ASSERT_EQ(first.parts.size(), 1U);
  EXPECT_EQ(first.parts[0][0], 0);
  EXPECT_EQ(f.fit.steps.front(), 1);
  const at::Tensor found = f.arena.values();
  EXPECT_TRUE(torch::allclose(found, torch::tensor({{3.0F, -1.0F}, {3.0F, -0.5F}}), 1e-3, 1e-3))
      << found;
}

TEST(Trainer, PartsOfABatchAddUpToTheWhole) {
  Fitting whole(1), parts(3);

  for (std::int64_t step = 1; step <= 5; ++step) {
    const StepReport a = whole.trainer.step(step), b = parts.trainer.step(step);
    EXPECT_NEAR(a.loss[1], b.loss[1], 1e-5);
    EXPECT_NEAR(a.total[1], b.total[1], 1e-5);
  }

  EXPECT_EQ(parts.fit.steps.size(), 15U);
  EXPECT_TRUE(torch::allclose(whole.arena.values(), parts.arena.values(), 1e-4, 1e-5));
}

TEST(Trainer, AFiniteLossAboveItsBoundEndsThatCellAlone) {
  Fitting f(1);
  f.options.diverged_above = {kInfinity, 3.0};  // the first loss is 5.2
  const at::Tensor before = f.arena.values().clone();

  const StepReport report = f.trainer.step(1);

  EXPECT_EQ(report.nonfinite, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_TRUE(std::isfinite(report.loss[1]));
  EXPECT_EQ(f.cells.status(0), CellStatus::Running);
  EXPECT_EQ(f.cells.status(1), CellStatus::Diverged);
  EXPECT_TRUE(torch::equal(f.arena.values()[1], before[1])) << "it keeps its bits";
  EXPECT_FALSE(torch::equal(f.arena.values()[0], before[0]));
  EXPECT_EQ(f.trainer.step(2).nonfinite, (std::vector<std::uint8_t>{0, 0})) << "reported once";
}

TEST(Trainer, TheLossScaleCancelsInTheUpdate) {
  TrainOptions clipped = recipe(1);
  clipped.clip = {0.5, 0.5};
  Fitting plain(clipped);
  clipped.loss_scale = {1024, 1.0 / 64};
  Fitting scaled(clipped);

  for (std::int64_t step = 1; step <= 5; ++step) {
    const StepReport a = plain.trainer.step(step), b = scaled.trainer.step(step);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.optimizer.norms.group_norm, b.optimizer.norms.group_norm)
        << "before clip, unscaled";
  }
  EXPECT_TRUE(torch::equal(plain.arena.values(), scaled.arena.values()));
}

}  // namespace trainer_test
}  // namespace depthgrid
