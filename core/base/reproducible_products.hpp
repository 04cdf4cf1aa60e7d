#pragma once

#include <cstdlib>

namespace depthgrid {

/// Makes the bits of matrix products repeat, and independent of how their operands are aligned.
///
/// On the CPU, always the same code path of this processor. By default MKL on AMD processors
/// multiplies small matrices in another order when a row does not start at a multiple of 64 bytes:
/// the cells of a fused job would differ in the last bits from the same cells trained alone. No
/// measurable cost. On a GPU, a fixed workspace: cuBLAS otherwise chooses the order of its sums by
/// the workspace that is free. MKL_CBWR and CUBLAS_WORKSPACE_CONFIG in the environment take
/// precedence. Call before the first matrix product of the process. Sources: oneMKL developer
/// guide, chapter "Obtaining numerically reproducible results"; cuBLAS documentation, section
/// "Results reproducibility".
inline void reproducible_products() {
  setenv("MKL_CBWR", "AUTO", /*overwrite=*/0);
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
}

}  // namespace depthgrid
