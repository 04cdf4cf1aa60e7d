#pragma once

#include <cstdlib>

namespace depthgrid {

/// Makes the bits of matrix products independent of how their operands are aligned.
///
/// Always the same code path of this processor. By default MKL on AMD processors multiplies small
/// matrices in another order when a row does not start at a multiple of 64 bytes: the cells of a
/// fused job would differ in the last bits from the same cells trained alone. No measurable cost.
/// MKL_CBWR in the environment takes precedence. Call before the first matrix product of the
/// process. Source: oneMKL developer guide, chapter "Obtaining numerically reproducible results".
inline void reproducible_products() {
  setenv("MKL_CBWR", "AUTO", /*overwrite=*/0);
}

}  // namespace depthgrid
