#include "models/ops/hidden_scores.hpp"

#include <cstdint>
#include <limits>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

namespace depthgrid {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

bool in_place(const at::Tensor& scores, const at::Tensor& hidden) {
  const bool square = hidden.dim() == 2 || (hidden.dim() == 4 && hidden.size(1) == 1 &&
                                            hidden.size(0) == scores.size(0));
  return !at::GradMode::is_enabled() && scores.is_cpu() && scores.scalar_type() == at::kFloat &&
         scores.is_contiguous() && square && hidden.is_contiguous() &&
         hidden.numel() == (hidden.dim() == 2 ? 1 : scores.size(0)) * scores[0][0].numel();
}

}  // namespace

at::Tensor with_hidden(const at::Tensor& scores, const at::Tensor& hidden) {
  if (scores.numel() == 0 || !in_place(scores, hidden)) {
    return scores.masked_fill(hidden, static_cast<double>(kHidden));
  }
  const std::int64_t heads = scores.size(1), square = scores.size(2) * scores.size(3);
  const bool shared = hidden.dim() == 2;
  const bool* const hides = hidden.const_data_ptr<bool>();
  float* const values = scores.mutable_data_ptr<float>();
  at::parallel_for(0, scores.size(0) * heads, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const bool* const from = hides + (shared ? 0 : i / heads * square);
      float* const to = values + i * square;
      for (std::int64_t j = 0; j < square; ++j) to[j] = from[j] ? kHidden : to[j];
    }
  });
  return scores;
}

}  // namespace depthgrid
