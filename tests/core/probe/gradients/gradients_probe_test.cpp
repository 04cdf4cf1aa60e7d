#include "core/probe/gradients/gradients_probe.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "tests/core/probe/fake_subject.hpp"
#include "tests/core/probe/recorded_rows.hpp"

namespace depthgrid::testing {
namespace gradients_probe_test {

/// A job whose gradients are given: as many as its states.
class WithGradients final : public FakeSubject {
 public:
  explicit WithGradients(std::vector<at::Tensor> gradients)
      : FakeSubject(gradients,
                    at::zeros({gradients[0].size(0), static_cast<std::int64_t>(gradients.size())},
                              at::kDouble)) {}

  std::vector<at::Tensor> state_gradients(std::int64_t first, std::int64_t count) const override {
    return states(first, count);
  }
};

std::vector<double> look(const WithGradients& subject, std::int64_t batch, std::size_t cell) {
  GradientsProbe probe(subject, ProbeSchedule("end", 1), batch);
  RecordedRows out;
  probe.declare(out);
  probe.measure(1, out);
  return out.row("gradient_norm_depth", cell);
}

TEST(GradientsProbe, IsTheRootMeanSquareNormOfTheSequencesByDepth) {
  // Two cells, three sequences of four tokens in five channels: norms sqrt(20) times the entries.
  std::vector<at::Tensor> gradients = {at::full({2, 3, 4, 5}, 7.0), at::full({2, 3, 4, 5}, 1.0),
                                       at::full({2, 3, 4, 5}, 2.0)};
  gradients[2].select(0, 1).select(0, 0).fill_(5);  // one sequence of the second cell
  const WithGradients subject(gradients);
  const double unit = std::sqrt(20.0);
  const std::vector<double> first = look(subject, 2, 0), second = look(subject, 2, 1);
  ASSERT_EQ(first.size(), 2U) << "the state before the first step is left out";
  EXPECT_NEAR(first[0], unit, 1e-12);
  EXPECT_NEAR(first[1], 2 * unit, 1e-12);
  EXPECT_NEAR(second[1], unit * std::sqrt((25.0 + 4 + 4) / 3), 1e-12);
}

TEST(GradientsProbe, DoesNotDependOnThePiecesNorOnANeighbourThatDiverged) {
  std::vector<at::Tensor> gradients;
  for (int l = 0; l < 3; ++l) gradients.push_back(at::randn({2, 5, 4, 6}));
  const std::vector<double> whole = look(WithGradients(gradients), 5, 0);
  EXPECT_EQ(look(WithGradients(gradients), 1, 0), whole);
  EXPECT_EQ(look(WithGradients(gradients), 2, 0), whole);
  for (at::Tensor& g : gradients) g.select(0, 1).fill_(kNaN);
  EXPECT_EQ(look(WithGradients(gradients), 5, 0), whole);
  EXPECT_TRUE(std::isnan(look(WithGradients(gradients), 5, 1)[0]));
}

TEST(GradientsProbe, TellsOfTheTrainingIfThereIsOne) {
  const WithGradients subject({at::randn({2, 2, 3, 4}), at::randn({2, 2, 3, 4})});
  TrainingGradients training(2, 2, {});
  const std::vector<double> norm = {3, 1e-7}, clipped = {1, 1e-8};
  training.step(1, norm, clipped, 0.5);
  GradientsProbe probe(subject, ProbeSchedule("end", 1), 2, &training);
  RecordedRows out;
  probe.declare(out);
  probe.measure(1, out);
  EXPECT_EQ(out.row("gradient_norm_layer", 1), norm);
  EXPECT_EQ(out.row("gradient_norm_layer_clipped", 1), clipped);
  EXPECT_EQ(out.row("gradient_vanish_count", 1), (std::vector<double>{0, 1}));
  EXPECT_EQ(out.row("gradient_clip_count", 1), std::vector<double>{1});
  EXPECT_TRUE(std::isnan(out.row("gradient_norm_layer", 0)[0]));
}

}  // namespace gradients_probe_test
}  // namespace depthgrid::testing
