#pragma once

#include <cstdint>

#include "core/probe/solver/solver_comparison.hpp"

namespace depthgrid {

/// Whether the steps of a depth discretise a field. Values of the flag `solver_continuous`.
enum class Continuity : std::uint8_t { Undecided, Continuous, Not };

/// rk4 may be so far from the solution, over the displacement, and has to show such an order.
constexpr double kContinuousDistance = 0.01, kContinuousOrder = 3;

/// Continuous if both hold for rk4, on its grid between the model's nodes; undecided where they are
/// not measured: the reference did not arrive, or the error is rounding, which has no order.
Continuity continuity(const MethodResult& rk4);

/// The same beside a negative control, where rk4 must not converge: what passes for continuous
/// there has shown nothing, and leaves a field that passes undecided.
Continuity continuity(const MethodResult& rk4, const MethodResult& control);

}  // namespace depthgrid
