#pragma once

#include "sweeps/orders/bench_order.hpp"

namespace depthgrid {

/// `depthgrid bench decode`: times `order.steps` tokens of one sequence, one by one, with the
/// caches and by running the model over the whole sequence for each, in turns; prints tokens per
/// second of both (medians). Weights are those that a cell starts from. @return exit code.
int bench_decode(const BenchOrder& order);

}  // namespace depthgrid
