#pragma once

#include <cstdint>

// Read by nvcc: C++17, no LibTorch.
namespace depthgrid {

/// Parts of a row of P numbers, each made of blocks that follow each other in `offset` and `count`.
/// All pointers are device memory. E rows, B blocks, S parts.
struct DeviceParts {
  const float* x;  ///< (E, P)
  std::int64_t rows, row_size;
  std::int32_t blocks, parts;
  const std::int64_t* offset;      ///< (B) of the block's first number in a row
  const std::int32_t* count;       ///< (B)
  const std::int32_t* part_begin;  ///< (S + 1) first block of each part
  double* sums;                    ///< (E, B) workspace
  double* squares;                 ///< (E, S), written
};

}  // namespace depthgrid
