#pragma once

#include "core/config/resolve/rule_report.hpp"

namespace depthgrid {

/// Rules between the leaves of a flow: its place, its solver, its gradient.
void check_flow(const Slots& slots, const RuleReport& report);

}  // namespace depthgrid
