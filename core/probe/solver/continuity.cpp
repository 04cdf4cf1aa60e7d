#include "core/probe/solver/continuity.hpp"

#include <cmath>

namespace depthgrid {

Continuity continuity(const MethodResult& rk4) {
  if (std::isnan(rk4.of_displacement) || std::isnan(rk4.order)) return Continuity::Undecided;
  const bool holds = rk4.of_displacement <= kContinuousDistance && rk4.order >= kContinuousOrder;
  return holds ? Continuity::Continuous : Continuity::Not;
}

Continuity continuity(const MethodResult& rk4, const MethodResult& control) {
  const Continuity own = continuity(rk4);
  const bool shown = own != Continuity::Continuous || continuity(control) == Continuity::Not;
  return shown ? own : Continuity::Undecided;
}

}  // namespace depthgrid
