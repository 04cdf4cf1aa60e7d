#pragma once

#include <string>

namespace depthgrid {

/// Answers the planner's requests about structures: JSON in, JSON out (docs/cli.md, `describe`).
///
/// Counts follow from a layout, which takes no memory; times from a short calibration, a few steps
/// of the real structure on random tokens. A structure whose step would take long is measured on
/// fewer sequences and scaled.
/// @param request  {"schema": 1, "structures": [{"structure": key, "config": {leaf: value, …}}]}
/// @throws UserError if the request or a configuration cannot be read.
std::string describe(const std::string& request);

}  // namespace depthgrid
