#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/columns/column_table.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// Identity of cells as columns over `cell`: the coordinate, cell_alias, cell_row, cell_config,
/// structure_digest, arm, factor, is_baseline, replicate, and one `param_*` column for each leaf
/// that the sweep varies (where a cell does not read the leaf, the value is absent); param_seed,
/// param_data_seed and param_model_family always. Leaves that differ only because they follow from
/// others, or come from a preset, are in the plan and in cell_config.
///
/// A column holds integers, reals or (for words and lists) texts; flags are int8. A leaf that is a
/// number in some cells and a word in others becomes a text column and a real column `..._number`
/// (NaN for words). The plan holds resolved leaves, in which `1/L` is already a number. Attributes
/// of param_*: `leaf`, `leaf_class`. The type of a column follows from the whole plan, so that the
/// files of single cells agree.
///
/// @param cells  cells of `plan`, in the order of the rows.
std::vector<VariableColumn> identity_columns(const StoredPlan& plan,
                                             std::span<const StoredCell> cells);

/// Columns over `cell` that say which plan of the store each cell is of: plan_generation,
/// in_newest_plan. Only `sweep.h5` has them: in other files they would be out of date one day.
std::vector<VariableColumn> generation_columns(const StoredPlan& plan);

/// Names of the columns that xarray shows as coordinates of `cell`, separated by blanks: those that
/// every sweep has, so that the files of two sweeps can be concatenated.
std::string coordinate_names(std::span<const VariableColumn> identity);

/// Root attributes that every file of a sweep has: Conventions, title, sweep_name, sweep_id,
/// metric, goal, schema_digest, format and its version.
Attributes sweep_attributes(const StoredPlan& plan, const std::string& format);

/// `format_version` of files. Since 1.1, only what the sweep varies is a `param_*` column; since
/// 1.2, there are variables of probes along depth; since 1.3, the time of each probe, and files of
/// raw states are listed; since 2.0, texts have variable length, and there are digest and bytes of
/// each split; since 2.1, events of the sweep lie beside them.
inline constexpr std::string_view kFormatVersion = "2.1";
/// Whether this program can use a file's records: it knows all major numbers up to its own.
bool readable_version(const std::optional<std::string>& version);

}  // namespace depthgrid
