#include "core/train/gradient_buckets.hpp"

#include <optional>

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace gradient_buckets_test {

/// A team of two that sends nothing: keeps what it is given when a sum begins.
class RecordedSums final : public GradientSync {
 public:
  struct Begun {
    at::Tensor where, what;
  };
  std::vector<Begun> begun;

  int rank() const noexcept override { return 0; }
  int ranks() const noexcept override { return 2; }
  void sum(at::Tensor&) override {}
  void begin_sum(const at::Tensor& x) override { begun.push_back({x, x.clone()}); }
  void finish_sums() override {}
  void broadcast(at::Tensor&, int) override {}
  std::int64_t largest(std::int64_t value) override { return value; }
};

/// Gradients of two cells, watched by buckets as small as may be.
struct Watched {
  explicit Watched(const ModelCase& the_case, std::int64_t width = 0) {
    ModelOptions o = small_options(the_case.family, 2);
    the_case.change(o);
    if (width > 0) {
      o.width = width;
      o.hidden = 4 * width;
    }
    built.emplace(o, std::vector<std::uint64_t>{11, 12});
    buckets.emplace(*built->arena, sync, 1);
  }

  void backward(bool last) {
    const ModelOptions& o = built->model->options();
    at::Tensor windows = at::randint(0, o.vocabulary, {3, 10},
                                     at::make_generator<at::CPUGeneratorImpl>(7), at::kLong);
    CellLanguageModel model(*built->model, built->seeds);
    const at::Tensor loss = model.losses({windows.unsqueeze(0).expand({2, 3, 10}), 1}).total;
    if (last) buckets->arm();
    loss.backward(at::full({2}, 0.1));
  }

  RecordedSums sync;
  std::optional<Built> built;
  std::optional<GradientBuckets> buckets;
};

class Buckets : public ::testing::TestWithParam<ModelCase> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
};

TEST_P(Buckets, HoldCompleteGradientsWhenTheirSumsBegin) {
  Watched watched(GetParam());
  watched.backward(false);
  EXPECT_TRUE(watched.sync.begun.empty()) << "more gradients follow";

  watched.backward(true);
  watched.buckets->finish();

  std::int64_t elements = 0;
  for (const RecordedSums::Begun& b : watched.sync.begun) {
    EXPECT_TRUE(at::equal(b.where, b.what)) << "a gradient was added to after its sum had begun";
    elements += b.where.numel();
  }
  EXPECT_GE(watched.buckets->size(), 3);
  EXPECT_EQ(elements, watched.built->arena->gradients().numel()) << "each is summed once";
  EXPECT_EQ(static_cast<std::int64_t>(watched.sync.begun.size()), watched.buckets->size())
      << "one sum for both cells";
}

INSTANTIATE_TEST_SUITE_P(Families, Buckets, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

TEST(GradientBuckets, OfAModelOfSeparateLayersBeginBeforeTheBackwardPassEnds) {
  const ModelCase plain{"standard", "standard", [](ModelOptions&) {}};
  Watched watched(plain, 256);

  watched.backward(true);
  const std::size_t begun = watched.sync.begun.size();
  watched.buckets->finish();

  EXPECT_GE(watched.buckets->size(), 6);
  EXPECT_GE(begun + 1, watched.sync.begun.size()) << "all but that of the embedding";
  // Last columns first, whatever order autograd takes.
  const float* before = nullptr;
  for (const RecordedSums::Begun& b : watched.sync.begun) {
    const float* at = b.where.const_data_ptr<float>();
    if (before != nullptr) {
      EXPECT_LT(at, before);
    }
    before = at;
  }
}

TEST(GradientBuckets, OfATeamOfOneDoNothing) {
  NoSync sync;
  ParameterLayout layout;
  layout.parameter({.name = "weight", .shape = {3}});
  Arena arena(layout, {1}, at::kFloat);
  arena.parameter({.name = "weight", .shape = {3}});

  GradientBuckets buckets(arena, sync);

  EXPECT_EQ(buckets.size(), 0);
  buckets.finish();
}

}  // namespace gradient_buckets_test
}  // namespace depthgrid::testing
