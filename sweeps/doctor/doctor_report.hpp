#pragma once

#include <string>
#include <vector>

#include "sweeps/doctor/finding.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// One line per finding, those with a cure followed by it.
std::string doctor_text(const std::vector<Finding>& findings, Colour colour = Colour::No);

/// The contract `doctor --json` of docs/cli.md.
std::string doctor_json(const std::vector<Finding>& findings);

/// True if there is a problem, which warnings are not.
bool has_problem(const std::vector<Finding>& findings);

}  // namespace depthgrid
