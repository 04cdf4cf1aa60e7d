#include "core/probe/trajectory/token_grams.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>

namespace depthgrid {

at::Tensor TokenGrams::scatters() const {
  const at::Tensor x = at::cat(states_, 1);
  const at::Tensor centred = x - x.mean(1, /*keepdim=*/true);
  return at::bmm(centred, centred.transpose(1, 2));
}

GramSums TokenGrams::gram_sums() const {
  at::Tensor grams = scatters();
  grams.diagonal(0, 1, 2).zero_();
  const at::Tensor rows = grams.sum(2);      // (D, n)
  const at::Tensor flat = grams.flatten(1);  // symmetric: tr(K_a K_b) is the inner product
  return {.trace = at::mm(flat, flat.t()).cpu(),
          .cross = at::mm(rows, rows.t()).cpu(),
          .total = rows.sum(1).cpu()};
}

}  // namespace depthgrid
