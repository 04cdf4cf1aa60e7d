#include <vector>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "core/base/error.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "models/ops/cell_embedding.hpp"
#include "models/ops/depth_product.hpp"
#include "models/ops/per_cell_norm.hpp"
#include "tests/support/gradient_check.hpp"

namespace depthgrid {
namespace ops_test {

using testing::gradient_error;

class PerCellNorm : public ::testing::TestWithParam<NormKind> {
 protected:
  at::Tensor x_ = torch::randn({2, 3, 37, 5}, at::kDouble);  // 111 rows a cell: more than a block
  at::Tensor scale_ = torch::randn({2, 5}, at::kDouble);
  at::Tensor shift_ = torch::randn({2, 5}, at::kDouble);
  std::vector<double> eps_ = {1e-5, 0.1};

  at::Tensor written_out() const {
    const at::Tensor c = GetParam() == NormKind::Layer ? x_ - x_.mean(-1, true) : x_;
    const at::Tensor eps = torch::tensor(eps_, at::kDouble).view({2, 1, 1, 1});
    return c / (c.square().mean(-1, true) + eps).sqrt();
  }
};

TEST_P(PerCellNorm, MatchesItsFormulaForEachCellsEps) {
  const at::Tensor y = per_cell_norm(GetParam(), x_, scale_, shift_, eps_);

  const at::Tensor want = written_out() * scale_.view({2, 1, 1, 5}) + shift_.view({2, 1, 1, 5});
  EXPECT_TRUE(torch::allclose(y, want, 1e-12, 1e-12));
}

TEST_P(PerCellNorm, ProductsOfNormedRowsMatchTheirFormula) {
  const at::Tensor w = torch::randn({2, 3, 5}, at::kDouble);
  const at::Tensor want = torch::einsum("ebtc,ejc->ebtj", {written_out(), w});
  EXPECT_TRUE(torch::allclose(normed_products(GetParam(), x_, w, eps_), want, 1e-12, 1e-12));
  const at::Tensor rough =
      normed_products(GetParam(), x_.to(at::kFloat), w.to(at::kFloat), eps_).to(at::kDouble);
  EXPECT_TRUE(torch::allclose(rough, want, 1e-5, 1e-5));
}

TEST_P(PerCellNorm, GradientsMatchCentralDifferences) {
  const at::Tensor x = x_.narrow(2, 0, 12);
  const auto norm = [&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
    return per_cell_norm(GetParam(), a, b, c, eps_);
  };

  EXPECT_LT(gradient_error([&](const at::Tensor& v) { return norm(v, scale_, shift_); }, x), 1e-6);
  EXPECT_LT(gradient_error([&](const at::Tensor& v) { return norm(x, v, shift_); }, scale_), 1e-6);
  EXPECT_LT(gradient_error([&](const at::Tensor& v) { return norm(x, scale_, v); }, shift_), 1e-6);
  EXPECT_LT(gradient_error([&](const at::Tensor& v) { return norm(v, {}, {}); }, x), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PerCellNorm, ::testing::Values(NormKind::Layer, NormKind::Rms),
                         [](const auto& p) {
                           return p.param == NormKind::Layer ? "layer" : "rms";
                         });

TEST(CellCrossEntropy, IsTheSumOfNegativeLogLikelihoods) {
  const at::Tensor logits = torch::randn({2, 3, 4, 7}, at::kDouble);
  const at::Tensor targets = torch::randint(0, 7, {2, 3, 4}, at::kLong);

  const at::Tensor sums = cell_cross_entropy(logits, targets);

  const at::Tensor want =
      -(logits - logits.logsumexp(-1, true)).gather(-1, targets.unsqueeze(-1)).flatten(1).sum(1);
  EXPECT_TRUE(torch::allclose(sums, want, 1e-12, 1e-12));
  EXPECT_TRUE(torch::allclose(token_losses(logits, targets).flatten(1).sum(1), want));
}

TEST(CellCrossEntropy, GradientsMatchCentralDifferences) {
  const at::Tensor targets = torch::randint(0, 5, {2, 2, 3}, at::kLong);
  const at::Tensor logits = torch::randn({2, 2, 3, 5}, at::kDouble);

  EXPECT_LT(gradient_error(
                [&](const at::Tensor& v) { return cell_cross_entropy(v * 1.0, targets); }, logits),
            1e-6);
}

TEST(CellEmbedding, AddsEveryTokensGradientToItsRowOfItsCell) {
  at::Tensor table = torch::randn({2, 4, 3}, at::kFloat).requires_grad_(true);
  table.mutable_grad() = torch::ones({2, 4, 3});  // what was there stays
  const at::Tensor ids = torch::tensor({{{1, 1, 3}}, {{0, 2, 2}}}, at::kLong);

  const at::Tensor y = cell_embedding(table, ids);
  y.backward(torch::ones_like(y));

  EXPECT_TRUE(torch::equal(y[0][0][2], table.detach()[0][3]));
  const at::Tensor uses = torch::tensor({{0, 2, 0, 1}, {1, 0, 2, 0}}, at::kFloat);
  EXPECT_TRUE(torch::equal(table.grad(), 1 + uses.unsqueeze(-1).expand({2, 4, 3})));
}

at::Tensor leaf(const at::Tensor& x) {
  at::Tensor y = x.detach().clone().requires_grad_(true);
  y.mutable_grad() = torch::ones_like(x);  // what was there stays
  return y;
}

TEST(DepthProduct, IsTheSumWrittenOutAndAddsToTheGradientsThatAreThere) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const double near = type == at::kFloat ? 2e-6 : 1e-14;  // of sums of that many terms of order 1
    for (const std::int64_t entries : {7, 512, 1300}) {  // less than a block, one, two and a rest
      const at::Tensor generator = leaf(torch::randn({2, 5, entries}, type));
      const at::Tensor base = leaf(torch::randn({2, 1, entries}, type));
      const at::Tensor m = torch::randn({2, 7, 5}, type).requires_grad_(true);
      const at::Tensor weight = torch::randn({2, 7, entries}, type);

      const at::Tensor y = depth_product(generator, base, m);
      (y * weight).sum().backward();

      const auto g = generator.to(at::kDouble), w = weight.to(at::kDouble), f = m.to(at::kDouble);
      const auto agrees = [&](const at::Tensor& have, const at::Tensor& want, double terms) {
        return torch::allclose(have.to(at::kDouble), want, 0, near * terms);
      };
      EXPECT_TRUE(agrees(y, torch::einsum("ehn,elh->eln", {g, f}) + base, 5));
      EXPECT_TRUE(agrees(generator.grad(), 1 + torch::einsum("eln,elh->ehn", {w, f}), 7));
      EXPECT_TRUE(agrees(base.grad(), 1 + w.sum(1, true), 7));
      EXPECT_TRUE(agrees(m.grad(), torch::einsum("eln,ehn->elh", {w, g}), std::sqrt(entries) * 5));
    }
  }
}

TEST(DepthProduct, BitsOfACellDependNeitherOnNeighboursNorOnThreads) {
  const std::int64_t entries = 20'001, hidden = 64, layers = 6;  // long enough to be split
  const at::Tensor g = torch::randn({3, hidden, entries}), b = torch::randn({3, 1, entries});
  const at::Tensor h = torch::randn({3, layers, hidden});
  const at::Tensor dy = torch::randn({3, layers, entries});
  const auto run = [&](std::int64_t first, std::int64_t cells, int threads) {
    at::set_num_threads(threads);
    const at::Tensor generator = leaf(g.narrow(0, first, cells));
    const at::Tensor base = leaf(b.narrow(0, first, cells));
    const at::Tensor m = h.narrow(0, first, cells).clone().requires_grad_(true);
    const at::Tensor y = depth_product(generator, base, m);
    y.backward(dy.narrow(0, first, cells));
    at::set_num_threads(1);
    return std::vector<at::Tensor>{y.detach(), generator.grad(), base.grad(), m.grad()};
  };
  const std::vector<at::Tensor> together = run(0, 3, 1);

  for (const int threads : {1, 2}) {
    const std::vector<at::Tensor> alone = run(1, 1, threads);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_TRUE(torch::equal(alone[i][0], together[i][1])) << threads << " threads, tensor " << i;
    }
  }
}

TEST(DepthProduct, NeedsAGradientToAddTo) {
  const at::Tensor generator = torch::randn({1, 3, 4}).requires_grad_(true);

  EXPECT_THROW(depth_product(generator, {}, torch::randn({1, 2, 3})), Error);
}

}  // namespace ops_test
}  // namespace depthgrid
