#pragma once

#include <cstdint>
#include <vector>

namespace depthgrid {

/// Lanes of every float sum: lane j adds elements j, j + 32, ... of a block in float32, then the
/// lanes are added pairwise in float64. One warp of a GPU does the same.
inline constexpr int kSumLanes = 32;

/// ((l[0] + l[16]) + (l[8] + l[24])) + ...: the order of a warp's shuffle-down. Overwrites `lanes`.
inline double add_lanes(double* lanes) {
  for (int half = kSumLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  }
  return lanes[0];
}

/// Scalars of one (cell, parameter group) as the hyper-parameters state them.
struct AdamScalars {
  double lr, weight_decay, beta1, beta2, eps;
  double gradient_factor;  ///< clip factor / (ranks x loss scale)
  std::int64_t step;       ///< from 1
  bool decoupled;          ///< AdamW
};

/// The same as the inner loop wants them, computed in float64 and rounded once.
struct AdamBlockRates {
  float gradient_factor, l2, beta1, rest1, beta2, rest2, inverse_root, eps, step_size, decay;

  /// For a block on the no-decay list.
  AdamBlockRates without_decay() const {
    AdamBlockRates r = *this;
    r.l2 = 0;
    r.decay = 1;
    return r;
  }
};

/// m_hat / (sqrt(v_hat) + eps) with both bias corrections folded into two scalars:
/// step_size = lr / (1 - beta1^t), inverse_root = 1 / sqrt(1 - beta2^t).
AdamBlockRates adam_block_rates(const AdamScalars& scalars);

/// One block's part of a cell's five arrays; shadow may be null.
struct AdamBlock {
  float* parameters;
  float* first_moment;
  float* second_moment;
  float* gradients;
  std::uint16_t* shadow;
  std::int64_t count;
};

/// Sums of squares over one block.
struct BlockSums {
  double update;     ///< of p_new - p_old
  double parameter;  ///< of p_new
};

/// The inner loops for this CPU. All variants round alike (no fused multiply-add), so that which
/// one is taken shows in the time only.
struct AdamBlockKernels {
  double (*sum_of_squares)(const float* x, std::int64_t count);
  BlockSums (*update)(const AdamBlock& block, const AdamBlockRates& rates);  ///< zeroes gradients
};
AdamBlockKernels adam_block_kernels();

/// Every variant that this CPU can run, the one that adam_block_kernels() takes first.
std::vector<AdamBlockKernels> adam_block_variants();

/// Copies `count` floats to bfloat16, rounding to nearest even (NaN stays NaN): fills a shadow.
void round_to_bfloat16(const float* from, std::uint16_t* to, std::int64_t count);

/// Flushes denormals to zero on this thread while it lives (x86; elsewhere it does nothing).
class FlushDenormals {
 public:
  FlushDenormals() noexcept;
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned int before_;
};

}  // namespace depthgrid
