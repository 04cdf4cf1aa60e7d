#include "worker/eval/mode_evaluation.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include "worker/model/fused_model.hpp"

namespace depthgrid {
namespace mode_evaluation_test {

constexpr std::int64_t kTokens = 8;

/// Two layers that may skip, on dev = valid = 0, 1, 4, 9 … 64.
struct Setting {
  explicit Setting(const char* path)
      : config(make_config({{"model.family", "tdt"},
                            {"model.tdt.layers", "all"},
                            {"model.tdt.train_path", path},
                            {"model.d_model", 16},
                            {"model.n_layers", 2},
                            {"model.init.std", 0.3},
                            {"data.seq_len", kTokens},
                            {"eval.modes", ValueList{"dense"}}})),
        fused({&config}, at::kCPU) {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i <= kTokens; ++i) ids.push_back(i * i);
    for (const Split split : {Split::Train, Split::Dev, Split::Valid}) {
      data.streams[static_cast<std::size_t>(split)] = TokenStream::from_ids(ids, 256, 0);
    }
  }

  /// `tdt_d_st_mean` of both layers, as it is recorded.
  std::vector<double> recorded() {
    const EvalPlan plan(config, data, 1);
    ModeEvaluation modes(data, plan, *fused.model, *fused.language,
                         configured_modes(config, *fused.model));
    modes.calibrate(false);
    const auto results = modes.evaluate(false, [] { return false; });
    return std::ranges::find(results.value().statistics, "tdt_d_st_mean", &RoutingStatistic::name)
        ->values;
  }

  /// The same of a pass in one mode.
  std::vector<double> of(ExecutionMode mode) const {
    const at::NoGradGuard no_grad;
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < kTokens; ++i) ids.push_back(i * i);
    RoutingRecord record;
    record.teach = true;
    fused.model->logits(at::tensor(ids, at::kLong).view({1, 1, kTokens}),
                        {.execution = Execution{.mode = mode}, .routing = &record});
    std::vector<double> out;
    for (const LayerRouting& layer : record.layers) {
      out.push_back(layer.signals.d_st.to(at::kDouble).mean().item<double>());
    }
    return out;
  }

  CellConfig config;
  FusedModel fused;
  Dataset data;
};

TEST(ModeEvaluation, StatisticsAreOfTheStatesOfTraining) {
  Setting dense("dense"), gated("gated_st");
  const std::vector<double> every = dense.of(ExecutionMode::Dense);
  const std::vector<double> chosen = dense.of(ExecutionMode::TeacherTopk);
  ASSERT_GT(std::abs(every[1] - chosen[1]), 1e-4 * every[1]);

  EXPECT_NEAR(dense.recorded()[1], every[1], 1e-6 * every[1]);
  EXPECT_NEAR(gated.recorded()[1], chosen[1], 1e-6 * chosen[1]);
}

}  // namespace mode_evaluation_test
}  // namespace depthgrid
