// Compile with -O3 -fno-math-errno (else sqrt is not vectorised) -ffp-contract=off (else variants
// with fused multiply-add round differently).
#include "core/train/optimizer/adam_block.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define DEPTHGRID_INLINE inline __attribute__((always_inline))
#define DEPTHGRID_AVX2 __attribute__((target("avx2")))
#define DEPTHGRID_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#else
#define DEPTHGRID_INLINE inline __attribute__((always_inline))
#endif

namespace depthgrid {
namespace {

constexpr std::int64_t kChunk = 512;  // differences of one chunk stay in the first-level cache
constexpr int kVectors = 4;
using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
static_assert(kVectors * sizeof(Vector) == kSumLanes * sizeof(float));

/// Adds squares to the lanes; `count` elements of which only the last call's may be no multiple of
/// kSumLanes.
DEPTHGRID_INLINE void add_squares(const float* x, std::int64_t count, float* lanes) {
  Vector sums[kVectors];
  std::memcpy(sums, lanes, sizeof(sums));
  std::int64_t i = 0;
  for (; i + kSumLanes <= count; i += kSumLanes) {
    const auto* const at = reinterpret_cast<const Vector*>(x + i);
    for (int k = 0; k < kVectors; ++k) sums[k] += at[k] * at[k];
  }
  std::memcpy(lanes, sums, sizeof(sums));
  for (int j = 0; i < count; ++i, ++j) lanes[j] += x[i] * x[i];
}

DEPTHGRID_INLINE double add_float_lanes(const float* lanes) {
  double wide[kSumLanes];
  for (int j = 0; j < kSumLanes; ++j) wide[j] = lanes[j];
  return add_lanes(wide);
}

DEPTHGRID_INLINE double sum_of_squares(const float* x, std::int64_t count) {
  float lanes[kSumLanes] = {};
  add_squares(x, count, lanes);
  return add_float_lanes(lanes);
}

DEPTHGRID_INLINE std::uint16_t bfloat16_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(nan ? 0x7fc0U : rounded);
}

DEPTHGRID_INLINE void round_chunk(const float* __restrict from, std::uint16_t* __restrict to,
                                  std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = bfloat16_bits(from[i]);
}

DEPTHGRID_INLINE void update_chunk(float* __restrict p, float* __restrict m, float* __restrict v,
                                   float* __restrict g, float* __restrict change,
                                   std::int64_t count, const AdamBlockRates& rates) {
  const AdamBlockRates r = rates;
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = g[i] * r.gradient_factor + p[i] * r.l2;
    const float first = r.beta1 * m[i] + r.rest1 * gradient;
    const float second = r.beta2 * v[i] + (r.rest2 * gradient) * gradient;
    const float denominator = std::sqrt(second) * r.inverse_root + r.eps;
    const float next = p[i] * r.decay - r.step_size * first / denominator;
    change[i] = next - p[i];
    p[i] = next;
    m[i] = first;
    v[i] = second;
    g[i] = 0;
  }
}

DEPTHGRID_INLINE BlockSums update(const AdamBlock& block, const AdamBlockRates& rates) {
  float change[kChunk];
  float updates[kSumLanes] = {};
  float parameters[kSumLanes] = {};
  for (std::int64_t begin = 0; begin < block.count; begin += kChunk) {
    const std::int64_t count = std::min(kChunk, block.count - begin);
    float* const p = block.parameters + begin;
    update_chunk(p, block.first_moment + begin, block.second_moment + begin,
                 block.gradients + begin, change, count, rates);
    add_squares(change, count, updates);
    add_squares(p, count, parameters);
    if (block.shadow != nullptr) round_chunk(p, block.shadow + begin, count);
  }
  return {add_float_lanes(updates), add_float_lanes(parameters)};
}

double plain_sum(const float* x, std::int64_t count) {
  return sum_of_squares(x, count);
}
BlockSums plain_update(const AdamBlock& block, const AdamBlockRates& rates) {
  return update(block, rates);
}

#if defined(__x86_64__)
DEPTHGRID_AVX2 double avx2_sum(const float* x, std::int64_t count) {
  return sum_of_squares(x, count);
}
DEPTHGRID_AVX2 BlockSums avx2_update(const AdamBlock& block, const AdamBlockRates& rates) {
  return update(block, rates);
}
DEPTHGRID_AVX512 double avx512_sum(const float* x, std::int64_t count) {
  return sum_of_squares(x, count);
}
DEPTHGRID_AVX512 BlockSums avx512_update(const AdamBlock& block, const AdamBlockRates& rates) {
  return update(block, rates);
}
#endif

}  // namespace

AdamBlockRates adam_block_rates(const AdamScalars& s) {
  const auto t = static_cast<double>(s.step);
  const double correction1 = 1 - std::pow(s.beta1, t);
  const double correction2 = 1 - std::pow(s.beta2, t);
  // A beta of exactly 1 keeps its moment at zero for ever; the scalars must stay finite.
  return {.gradient_factor = static_cast<float>(s.gradient_factor),
          .l2 = static_cast<float>(s.decoupled ? 0 : s.weight_decay),
          .beta1 = static_cast<float>(s.beta1),
          .rest1 = static_cast<float>(1 - s.beta1),
          .beta2 = static_cast<float>(s.beta2),
          .rest2 = static_cast<float>(1 - s.beta2),
          .inverse_root = static_cast<float>(correction2 > 0 ? 1 / std::sqrt(correction2) : 1),
          .eps = std::max(static_cast<float>(s.eps), FLT_MIN),  // 0 / 0 where no gradient came yet
          .step_size = static_cast<float>(correction1 > 0 ? s.lr / correction1 : 0),
          .decay = static_cast<float>(s.decoupled ? 1 - s.lr * s.weight_decay : 1)};
}

std::vector<AdamBlockKernels> adam_block_variants() {
  std::vector<AdamBlockKernels> variants;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    variants.push_back({avx512_sum, avx512_update});
  }
  if (__builtin_cpu_supports("avx2")) variants.push_back({avx2_sum, avx2_update});
#endif
  variants.push_back({plain_sum, plain_update});
  return variants;
}

AdamBlockKernels adam_block_kernels() {
  return adam_block_variants().front();
}

void round_to_bfloat16(const float* from, std::uint16_t* to, std::int64_t count) {
  round_chunk(from, to, count);
}

#if defined(__x86_64__)
FlushDenormals::FlushDenormals() noexcept : before_(_mm_getcsr()) {
  _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
}
FlushDenormals::~FlushDenormals() {
  _mm_setcsr(before_);
}
#else
FlushDenormals::FlushDenormals() noexcept : before_(0) {}
FlushDenormals::~FlushDenormals() = default;
#endif

}  // namespace depthgrid
