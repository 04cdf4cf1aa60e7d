#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/columns/dimensions.hpp"

namespace depthgrid {

/// One variable of `metrics.h5`, `result.h5` and `sweep.h5`. The same name has the same meaning,
/// unit and axes in every file and every version of the format.
struct Variable {
  std::string_view name;
  std::string_view dims;  // "cell, step, parameter_group"
  DataType type;
  std::string_view units;      // in UDUNITS spelling, or "nat"; "1" when dimensionless
  std::string_view long_name;  // "flag: 0 pending, 1 running" lists the meanings of a flag
  std::string_view schedule;   // when it is written
  std::string_view source;  // file of this repository that defines it, for a page also its section
  bool optional = false;    // of a series: only some options or families record it
};

/// One value that a flag can take.
struct Flag {
  int value;
  std::string meaning;  // words joined by underscores, as the CF conventions require
};

/// The tables by subject, one file each; split a subject that grows beyond a screen or two.
std::span<const Variable> identity_variables();  // of a cell, and its parameters
std::span<const Variable> train_variables();
std::span<const Variable> eval_variables();
std::span<const Variable> routing_variables();     // layers that skip tokens
std::span<const Variable> trajectory_variables();  // states along depth
std::span<const Variable> lyapunov_variables();    // exponents of the depth as a map
std::span<const Variable> probe_variables();       // gates, readout of the states along depth
std::span<const Variable> field_variables();       // solutions of the depth's field, state spaces
std::span<const Variable> control_variables();     // signals made of labels
std::span<const Variable> cost_variables();        // cost, memory, time
std::span<const Variable> attempt_variables();     // audit, attempts, events, provenance

/// All of them. Defined in a file of its own, so that a test program can add a table.
std::vector<std::span<const Variable>> variable_tables();

/// The table, in the order in which files hold the variables.
std::span<const Variable> variables();

/// nullptr when the name is not in the table, as for `param_*` columns, which follow from the
/// leaves of a sweep.
const Variable* find_variable(std::string_view name);

/// Names of the axes: {"cell", "step", "parameter_group"}.
std::vector<std::string> axes_of(const Variable& variable);

/// True if records of all cells lie along the axis one after another: some variable begins with it.
bool is_record_axis(std::string_view axis);

/// Lengths of the axes from the `first` on. 0: open, the numbers or the job decide.
std::vector<std::int64_t> fixed_lengths(const Variable& variable, std::size_t first);

/// Numbers in a row over a step axis that every cell has: the widths of all variables over it that
/// are not optional. 47 over `step`.
std::int64_t row_numbers(std::string_view step_axis);

/// Values and meanings of a flag, parsed from long_name; empty for anything that is not a flag.
std::vector<Flag> flags_of(std::string_view long_name);

/// Units of an instant, which xarray converts to datetime64.
inline constexpr std::string_view kInstantUnits = "seconds since 1970-01-01T00:00:00Z";

/// The tables of axes and variables as in docs/store-format.md.
std::string variables_markdown();

}  // namespace depthgrid
