#pragma once

#include <span>
#include <vector>

#include "storage/columns/variables.hpp"

namespace depthgrid {

/// The tables of variables by subject, one file each; split a subject that grows beyond a screen or
/// two.
std::span<const Variable> identity_variables();  // of a cell, and its parameters
std::span<const Variable> train_variables();
std::span<const Variable> eval_variables();
std::span<const Variable> routing_variables();  // layers that skip tokens
std::span<const Variable> cost_variables();     // cost, memory, time
std::span<const Variable> attempt_variables();  // audit, attempts, events, provenance

/// All of them, in the order in which files hold the variables.
///
/// Defined in a file of its own, so that a test program can replace it to add a table.
std::vector<std::span<const Variable>> variable_tables();

}  // namespace depthgrid
