#pragma once

#include <cstdint>
#include <span>

#include "core/base/isa.hpp"

namespace depthgrid {

/// Lanes of every sum: lane j adds elements j, j + 32, ..., then the lanes are added pairwise in
/// float64. One warp of a GPU does the same.
inline constexpr int kSumLanes = 32;

/// Sum of the squares of one block, in float32 lanes. The same bits on every x86-64 CPU.
double sum_of_squares(const float* x, std::int64_t count, Isa isa = isa_in_use());

/// Sum of `partials` over `order`, in float64 lanes.
double sum_of_partials(const double* partials, std::span<const std::int32_t> order,
                       Isa isa = isa_in_use());

/// Flushes denormals to zero on this thread during its lifetime (x86; elsewhere a no-op).
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
