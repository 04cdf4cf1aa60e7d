// Families are compared with each other: parts of one that a plain transformer lacks must not
// change how the rest of it is trained.
#include "worker/model/fused_model.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

namespace depthgrid {
namespace fused_model_test {

constexpr std::int64_t kSteps = 30, kRows = 4, kTokens = 16, kVocabulary = 32;

/// Windows (1, rows, T + 1) of a step: multiples of a small number, so that there is something to
/// learn.
at::Tensor windows(std::int64_t step) {
  std::vector<std::int64_t> ids;
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t t = 0; t <= kTokens; ++t) {
      ids.push_back((step * 7 + row * 5 + t * (1 + (step + row) % 3)) % kVocabulary);
    }
  }
  return at::tensor(ids, at::kLong).view({1, kRows, kTokens + 1});
}

/// The language model's loss of each step; gradients are clipped at a hundredth of their size.
std::vector<double> losses(ValueMap leaves) {
  const ValueMap common = {{"model.d_model", 32},
                           {"model.n_layers", 4},
                           {"model.n_heads", 2},
                           {"model.positions", "rope"},
                           {"data.corpus", "synthetic:markov"},
                           {"data.synthetic.vocab_size", kVocabulary},
                           {"data.seq_len", kTokens},
                           {"train.steps", kSteps},
                           {"train.batch_size", kRows},
                           {"train.lr", 3e-3},
                           {"train.eps", 1e-3},  // else Adam undoes the clip
                           {"train.clip", 0.01}};
  leaves.insert(leaves.end(), common.begin(), common.end());
  const CellConfig config = make_config(leaves);
  const FusedModel fused({&config}, at::kCPU);
  std::vector<double> out;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    const Objective::Losses got = fused.language->losses({windows(step), step});
    got.total.backward(at::full({1}, 1.0 / (kRows * kTokens), got.total.options()));
    out.push_back(got.loss.item<double>() / (kRows * kTokens));
    fused.optimizer->step(step, {1});
  }
  return out;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(FusedModel, WithCapacityOneATemporalDynamicTransformerTrainsLikeAPlainOne) {
  const std::vector<double> plain = losses({{"model.family", "standard"}});
  ASSERT_LT(plain.back(), plain.front() - 0.05);  // it learns, so that paths could part
  for (const char* path : {"gated_st", "dense"}) {
    const ValueMap tdt = {{"model.family", "tdt"},
                          {"model.tdt.capacity", 1.0},
                          {"model.tdt.layers", "all"},
                          {"model.tdt.lambda_causal", 10.0},  // a loss that must not matter
                          {"model.tdt.train_path", path}};
    EXPECT_LT(largest_difference(losses(tdt), plain), 2e-5) << path;

    for (const char* scope : {"global", "group"}) {
      ValueMap otherwise = tdt;
      otherwise.emplace_back("train.clip_scope", scope);
      EXPECT_GT(largest_difference(losses(otherwise), plain), 1e-3) << path << " " << scope;
    }
  }
}

TEST(FusedModel, ThePredictorOfMixtureOfDepthsDoesNotSlowTheModel) {
  const auto mod = [](double weight, const char* scope) {
    return losses({{"model.family", "mod"},
                   {"model.mod.lambda_predictor", weight},
                   {"train.clip_scope", scope}});
  };
  EXPECT_EQ(mod(0.1, "main"), mod(10, "main"));
  EXPECT_GT(largest_difference(mod(0.1, "global"), mod(10, "global")), 1e-3);
}

}  // namespace fused_model_test
}  // namespace depthgrid
