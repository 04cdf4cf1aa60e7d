#include "models/ops/gelu_kernel.hpp"

#include <algorithm>
#include <bit>

namespace depthgrid {
namespace {

// Built with -O3 -fopenmp-simd; each entry exists once for each level of the instruction set.
#define DEPTHGRID_CLONES \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#define DEPTHGRID_INLINE inline __attribute__((always_inline))

constexpr std::int64_t kBlock = 64;           // elements that are always computed together
constexpr float kTwoU = 1.5957691216057308F;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715F;

/// exp(x) from -80 (below it exp(-80)) to where it overflows to infinity; NaN stays NaN. Range
/// reduction by ln 2 in two parts and the polynomial of degree 5 of Cephes (Moshier 1992).
DEPTHGRID_INLINE float exponential(float x) {
  constexpr float kToInteger = 12582912.0F;  // 1.5 * 2^23: the sum's low bits are the integer
  x = x < -80.0F ? -80.0F : x;
  x = x > 89.0F ? 89.0F : x;
  const float shifted = x * 1.44269504F + kToInteger;
  const float n = shifted - kToInteger;
  float r = x - n * 0.693359375F;
  r = r + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float fraction = p * (r * r) + r + 1.0F;
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(shifted) + 127U;
  return fraction * std::bit_cast<float>(exponent << 23U);
}

DEPTHGRID_INLINE float forward(float x) {
  return x / (1.0F + exponential(-kTwoU * (x + kCubic * (x * x * x))));
}

DEPTHGRID_INLINE float slope(float x) {
  const float e = exponential(-kTwoU * (x + kCubic * (x * x * x)));
  const float s = 1.0F / (1.0F + e);
  float square = x * x;
  square = square > 1e30F ? 1e30F : square;  // s (1 - s) is zero there, infinity would make it NaN
  return s + x * (s * (1.0F - s)) * (kTwoU * (1.0F + 3.0F * kCubic * square));
}

DEPTHGRID_INLINE float load(float x) {
  return x;
}
DEPTHGRID_INLINE float load(std::uint16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16U);
}
DEPTHGRID_INLINE void store(float x, float& to) {
  to = x;
}
DEPTHGRID_INLINE void store(float x, std::uint16_t& to) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
  to = static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fc0U : rounded);
}

template <class T>
DEPTHGRID_INLINE void forward_block(const T* x, T* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < kBlock; ++i) store(forward(load(x[i])), y[i]);
}

template <class T>
DEPTHGRID_INLINE void backward_block(const T* x, const T* dy, T* dx) {
#pragma omp simd
  for (std::int64_t i = 0; i < kBlock; ++i) store(load(dy[i]) * slope(load(x[i])), dx[i]);
}

template <class T>
DEPTHGRID_INLINE void forward_all(const T* x, T* y, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) forward_block(x + i, y + i);
  if (i == count) return;
  T in[kBlock] = {};
  T out[kBlock];
  std::copy(x + i, x + count, in);
  forward_block(in, out);
  std::copy(out, out + (count - i), y + i);
}

template <class T>
DEPTHGRID_INLINE void backward_all(const T* x, const T* dy, T* dx, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) backward_block(x + i, dy + i, dx + i);
  if (i == count) return;
  T in[kBlock] = {};
  T gradient[kBlock] = {};
  T out[kBlock];
  std::copy(x + i, x + count, in);
  std::copy(dy + i, dy + count, gradient);
  backward_block(in, gradient, out);
  std::copy(out, out + (count - i), dx + i);
}

DEPTHGRID_CLONES void forward_f32(const float* x, float* y, std::int64_t count) {
  forward_all(x, y, count);
}
DEPTHGRID_CLONES void forward_bf16(const std::uint16_t* x, std::uint16_t* y, std::int64_t count) {
  forward_all(x, y, count);
}
DEPTHGRID_CLONES void backward_f32(const float* x, const float* dy, float* dx, std::int64_t count) {
  backward_all(x, dy, dx, count);
}
DEPTHGRID_CLONES void backward_bf16(const std::uint16_t* x, const std::uint16_t* dy,
                                    std::uint16_t* dx, std::int64_t count) {
  backward_all(x, dy, dx, count);
}

}  // namespace

void gelu_tanh_forward(const float* x, float* y, std::int64_t count) {
  forward_f32(x, y, count);
}
void gelu_tanh_forward(const std::uint16_t* x, std::uint16_t* y, std::int64_t count) {
  forward_bf16(x, y, count);
}
void gelu_tanh_backward(const float* x, const float* dy, float* dx, std::int64_t count) {
  backward_f32(x, dy, dx, count);
}
void gelu_tanh_backward(const std::uint16_t* x, const std::uint16_t* dy, std::uint16_t* dx,
                        std::int64_t count) {
  backward_bf16(x, dy, dx, count);
}

}  // namespace depthgrid
