#pragma once

namespace depthgrid {

/// Makes the bits of matrix products independent of how their operands are aligned.
///
/// By default MKL on AMD processors multiplies small matrices in another order when a row does not
/// start at a multiple of 64 bytes: the cells of a fused job would differ in the last bits from the
/// same cells trained alone. No measurable cost. MKL_CBWR in the environment takes precedence.
/// Call before the first matrix product of the process.
void reproducible_products();

}  // namespace depthgrid
