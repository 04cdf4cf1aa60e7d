#pragma once

#include "sweeps/orders/orders.hpp"

namespace depthgrid {

/// `depthgrid bench decode`: times `order.steps` tokens of one sequence, one by one, alternately
/// with caches and by running the model over the whole sequence for each token; prints tokens per
/// second of both (medians). Weights are a cell's initial values. @return exit code.
/// @throws UserError (Usage) if the tokens do not fit the learned positions.
int bench_decode(const BenchOrder& order);

}  // namespace depthgrid
