#include "models/regularisers/dominant_direction.hpp"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

namespace depthgrid {
namespace {

/// Below this share of its image, what is left of a vector is rounding.
constexpr double kNothing = 1e-6;
/// A Rayleigh quotient that no other is below.
constexpr double kLowest = -1e30;

at::Tensor by_sequence(const at::Tensor& numbers) {
  return numbers.unsqueeze(-1).unsqueeze(-1);
}

at::Tensor unit(const at::Tensor& x) {
  return x / by_sequence(inner_product(x, x).sqrt().clamp_min(1e-30));
}

}  // namespace

at::Tensor inner_product(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum(-1).sum(-1);
}

at::Tensor dominant_direction(const std::function<at::Tensor(const at::Tensor&)>& symmetric,
                              const at::Tensor& start, std::int64_t steps) {
  std::vector<at::Tensor> basis = {unit(start.detach())}, images;
  std::vector<at::Tensor> spent = {at::zeros_like(inner_product(start, start)).to(at::kBool)};
  for (std::int64_t k = 0; k <= steps; ++k) {
    images.push_back(symmetric(basis.back()));
    if (k == steps) break;
    at::Tensor rest = images.back();
    for (int pass = 0; pass < 2; ++pass) {
      for (const at::Tensor& v : basis) rest = rest - by_sequence(inner_product(v, rest)) * v;
    }
    const at::Tensor whole = inner_product(images.back(), images.back());
    spent.push_back(inner_product(rest, rest).le(whole * (kNothing * kNothing)));
    basis.push_back(at::where(by_sequence(spent.back()), at::zeros_like(rest), unit(rest)));
  }
  std::vector<at::Tensor> rows;
  for (std::size_t i = 0; i < basis.size(); ++i) {
    std::vector<at::Tensor> row;
    for (std::size_t j = 0; j < basis.size(); ++j) {
      at::Tensor entry = inner_product(basis[i], images[j]).to(at::kDouble);
      if (i == j) entry = entry.masked_fill(spent[i], kLowest);
      row.push_back(entry);
    }
    rows.push_back(at::stack(row, -1));
  }
  const at::Tensor projected = at::stack(rows, -2).nan_to_num(0, 0, 0);  // (E, B, n, n)
  const at::Tensor vectors =
      std::get<1>(at::linalg_eigh((projected + projected.transpose(-1, -2)) / 2));
  const at::Tensor weights = vectors.select(-1, vectors.size(-1) - 1).to(start.scalar_type());
  at::Tensor out = at::zeros_like(basis[0]);
  for (std::size_t i = 0; i < basis.size(); ++i) {
    out = out + by_sequence(weights.select(-1, static_cast<std::int64_t>(i))) * basis[i];
  }
  return unit(out);
}

}  // namespace depthgrid
