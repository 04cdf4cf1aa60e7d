#include "core/probe/trajectory/feature_moments.hpp"

#include <cstddef>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace depthgrid {

void FeatureMoments::begin(const at::Tensor& x) {
  const std::int64_t depths = x.size(0), channels = x.size(2);
  shift_ = x.mean(1, /*keepdim=*/true);
  sum_ = at::zeros({depths, channels}, x.options());
  const std::int64_t products = pairs_ ? depths * (depths + 1) / 2 : depths;
  for (std::int64_t i = 0; i < products; ++i) {
    products_.push_back(at::zeros({channels, channels}, x.options()));
  }
  if (!pairs_) return;
  squares_ = at::zeros({depths}, x.options());
  quartic_ = at::zeros({depths, depths}, x.options());
  weighted_ = at::zeros({depths, channels, depths}, x.options());
}

void FeatureMoments::add(const at::Tensor& x) {
  if (!shift_.defined()) begin(x);
  const std::int64_t depths = x.size(0);
  const at::Tensor z = x - shift_;
  tokens_ += z.size(1);
  sum_ += z.sum(1);
  std::size_t i = 0;
  for (std::int64_t a = 0; a < depths; ++a) {
    const std::int64_t end = pairs_ ? depths : a + 1;
    for (std::int64_t b = a; b < end; ++b) products_[i++].addmm_(z[a].t(), z[b]);
  }
  if (!pairs_) return;
  const at::Tensor q = (z * z).sum(-1);  // (D, T)
  squares_ += q.sum(1);
  quartic_.addmm_(q, q.t());
  weighted_.baddbmm_(z.transpose(1, 2), q.t().expand({depths, -1, -1}));
}

at::Tensor FeatureMoments::scatters() const {
  const std::int64_t depths = sum_.size(0);
  std::vector<at::Tensor> out;
  std::size_t i = 0;
  for (std::int64_t a = 0; a < depths; ++a) {
    out.push_back(products_[i] - at::outer(sum_[a], sum_[a]) / static_cast<double>(tokens_));
    i += pairs_ ? static_cast<std::size_t>(depths - a) : 1;
  }
  return at::stack(out);
}

GramSums FeatureMoments::gram_sums() const {
  const std::int64_t depths = sum_.size(0);
  std::vector<at::Tensor> squared, between;  // |P|^2 and s_a' P s_b for each product P
  for (std::int64_t a = 0, i = 0; a < depths; ++a) {
    for (std::int64_t b = a; b < depths; ++b, ++i) {
      const at::Tensor& product = products_[static_cast<std::size_t>(i)];
      squared.push_back((product * product).sum());
      between.push_back(at::dot(sum_[a], at::mv(product, sum_[b])));
    }
  }
  const at::Tensor products = at::stack({at::stack(squared), at::stack(between)}).cpu();
  const at::Tensor quartic = quartic_.cpu();
  const at::Tensor pulled = (weighted_ * sum_.unsqueeze(-1)).sum(1).cpu();  // s_a . sum_i x_ai q_bi

  GramSums out{.trace = at::empty_like(quartic),
               .cross = at::empty_like(quartic),
               .total = ((sum_ * sum_).sum(1) - squares_).cpu()};
  const auto of_pair = products.accessor<double, 2>();
  const auto quartics = quartic.accessor<double, 2>();
  const auto pull = pulled.accessor<double, 2>();
  auto trace = out.trace.accessor<double, 2>(), cross = out.cross.accessor<double, 2>();
  for (std::int64_t a = 0, i = 0; a < depths; ++a) {
    for (std::int64_t b = a; b < depths; ++b, ++i) {
      trace[a][b] = trace[b][a] = of_pair[0][i] - quartics[a][b];
      cross[a][b] = cross[b][a] = of_pair[1][i] - pull[a][b] - pull[b][a] + quartics[a][b];
    }
  }
  return out;
}

}  // namespace depthgrid
