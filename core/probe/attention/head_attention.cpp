#include "core/probe/attention/head_attention.hpp"

#include <cmath>

#include "core/base/nan.hpp"

namespace depthgrid {

HeadAttention head_attention(std::span<const float> weights, std::int64_t tokens) {
  if (tokens < 2) return {kNaN, kNaN, kNaN, kNaN};
  HeadAttention sum;
  for (std::int64_t i = 1; i < tokens; ++i) {
    const float* row = weights.data() + i * tokens;
    double entropy = 0, distance = 0;
    for (std::int64_t j = 0; j <= i; ++j) {
      const double p = row[j];
      distance += p * static_cast<double>(i - j);
      if (p != 0) entropy -= p * std::log(p);  // p ln p -> 0; a NaN stays one
    }
    sum.entropy += entropy / std::log(static_cast<double>(i + 1));
    sum.distance += distance;
    sum.first_share += row[0];
    sum.self_share += row[i];
  }
  const auto queries = static_cast<double>(tokens - 1);
  return {sum.entropy / queries, sum.distance / queries, sum.first_share / queries,
          sum.self_share / queries};
}

}  // namespace depthgrid
