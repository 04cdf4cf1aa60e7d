// Gradients of layers along a training: what a session records, and what a checkpoint keeps.
#include "worker/session/gradient_watch.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/worker/session/small_run.hpp"
#include "worker/session/probe_table.hpp"
#include "worker/session/probe_watches.hpp"

namespace depthgrid::testing {
namespace gradient_watch_test {

using Numbers = std::vector<double>;

void train(SmallRun& small, std::vector<std::size_t> rows = {0, 1}) {
  Claim claim = small.claim(std::move(rows));
  ASSERT_EQ(JobSession(small.run, claim.job, claim.cells).run(), SessionEnd::Done);
}

TEST(GradientWatch, NormsAndCountsOfEveryStepAreRecorded) {
  SmallRun small(
      {.set = {"probes.gradients.schedule={every: 3}", "train.clip=0.5",
               "probes.gradients.vanish_below=1e3", "probes.gradients.explode_above=1e-9"}});
  train(small);
  for (const std::size_t row : {0U, 1U}) {
    const Numbers norm = small.column(row, "probe", "gradient_norm_layer");
    const Numbers clipped = small.column(row, "probe", "gradient_norm_layer_clipped");
    const Numbers factor = small.column(row, "train", "train_clip_factor");
    const Numbers all = small.column(row, "train", "train_grad_norm");
    ASSERT_EQ(norm.size(), 6U) << "at 0, 3 and 6, two layers";
    EXPECT_TRUE(std::isnan(norm[0])) << "no step was made before the first look";
    for (const std::size_t look : {1U, 2U}) {
      const std::size_t step = 3 * look - 1;
      const double a = norm[2 * look], b = norm[2 * look + 1];
      EXPECT_GT(a, 0);
      EXPECT_LT(std::hypot(a, b), all[step]) << "the rest is the embedding's";
      EXPECT_NEAR(clipped[2 * look], a * factor[step], 1e-7);
    }
    EXPECT_EQ(small.column(row, "probe", "gradient_vanish_count"), (Numbers{0, 0, 3, 3, 6, 6}));
    EXPECT_EQ(small.column(row, "probe", "gradient_explode_count"), (Numbers{0, 0, 3, 3, 6, 6}));
    const auto active = [&](std::ptrdiff_t steps) {
      return static_cast<double>(
          std::count_if(factor.begin(), factor.begin() + steps, [](double f) { return f < 1; }));
    };
    EXPECT_EQ(small.column(row, "probe", "gradient_clip_count"),
              (Numbers{0, active(3), active(6)}));
    EXPECT_GT(active(6), 0);
  }
}

TEST(GradientWatch, ACellHasTheSameNumbersAloneAndFused) {
  const SmallRun::Options options{.set = {"probes.gradients.schedule={every: 2}"}};
  SmallRun fused(options), alone(options);
  train(fused);
  train(alone, {1});
  for (const char* name : {"gradient_norm_layer", "gradient_norm_layer_clipped"}) {
    const Numbers a = fused.column(1, "probe", name), b = alone.column(1, "probe", name);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 2; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]) << name << " " << i;
  }
}

TEST(GradientWatch, CountsAreKeptInCheckpoints) {
  SmallRun small;
  const Claim claim = small.claim();
  const TrainedJob job(small.run, claim.job);
  const auto watch = [&] {
    return GradientWatch(*job.configs[0], job.fused.options, *job.fused.arena, job.fused.train);
  };
  const auto made = [](std::size_t) { return true; };
  GradientWatch first = watch(), next = watch(), old = watch();
  StepReport report;
  report.nonfinite = {0, 0};
  report.optimizer.norms.factor = {0.5, 1};
  report.layers.norm = report.layers.norm_clipped = {1e-8, 1, 1, 1e3};
  for (int i = 0; i < 3; ++i) first.step(report, made);
  std::map<std::string, double> numbers;
  first.save(0, numbers);
  next.restore(0, numbers);
  next.step(report, made);
  EXPECT_EQ(next.gradients().counts(0).vanished, (Numbers{4, 0}));
  EXPECT_EQ(next.gradients().counts(0).clipped, 4);
  EXPECT_EQ(next.gradients().counts(1).exploded, (Numbers{0, 1}));
  old.restore(0, {{"wall", 1.0}});
  EXPECT_TRUE(std::isnan(old.gradients().counts(0).clipped)) << "a checkpoint without counts";
}

TEST(GradientWatch, IsMadeAlongWithItsProbeIfThatIsOn) {
  for (const auto& [schedule, count] : {std::pair{"off", 0U}, std::pair{"{every: 2}", 1U}}) {
    SmallRun small({.set = {std::string("probes.gradients.schedule=") + schedule}});
    const Claim claim = small.claim();
    const TrainedJob job(small.run, claim.job);
    const JobProbes probes = make_probes(job);
    EXPECT_EQ(probes.watches.size(), count);
    const ProbeWatches watches(job, probes.watches);
    EXPECT_EQ(watches.due(1), count > 0);
    std::map<std::string, double> numbers;
    watches.save(0, numbers);
    EXPECT_EQ(numbers.contains("gradient_clipped"), count > 0) << "what checkpoints get";
  }
}

}  // namespace gradient_watch_test
}  // namespace depthgrid::testing
