#pragma once

namespace depthgrid {

/// Asks the matrix library for products whose bits do not depend on where their operands lie.
///
/// Without it MKL multiplies small matrices on AMD's processors in another order when a row does
/// not start at a multiple of 64 bytes: the rows of a fused job then differ from the same cells
/// alone in the last bits. Costs nothing measurable. A value of MKL_CBWR in the environment stays.
/// To be called before the first product of the process.
void reproducible_products();

}  // namespace depthgrid
