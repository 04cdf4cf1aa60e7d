#pragma once

#include "core/config/resolve/rule_report.hpp"

namespace depthgrid {

/// Rules between the leaves of a control signal: its axes and their names, where it enters.
void check_control(const Slots& slots, const RuleReport& report);

}  // namespace depthgrid
