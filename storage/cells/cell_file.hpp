#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/real_fs.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/column_table.hpp"
#include "storage/files/journal.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// Facts about a cell that are not in its journals, by name of the variable
/// (storage/columns/variables.hpp).
///
/// Values of a variable with axes after `cell` are row-major over those axes; the length of one
/// axis that is not fixed (depth, layer, token_position) follows from the number of values, lengths
/// of further ones and labels are in `axes`. A variable over `step` may be given too
/// (residual_scale that is not learned): it is put at the first step. NaN and -1 mean absent.
struct CellFacts {
  std::map<std::string, std::vector<double>>
      numbers;  // "n_parameters", "depth_time", "cost_flops_token"
  std::map<std::string, std::string>
      texts;                     // "tokens_sha256", "data_order_digest", "weights_sha256"
  std::vector<RowAxis> axes;     // beside those that the journals name
  std::string library_versions;  // JSON object: {"libtorch": "2.11.0", "hdf5": "1.10.8"}

  void set(const std::string& name, double value) { numbers[name] = {value}; }
  void set(const std::string& name, std::vector<double> values) {
    numbers[name] = std::move(values);
  }
  void set(const std::string& name, std::string_view text) { texts[name] = std::string(text); }
};

/// The sources of `metrics.h5` and `result.h5` of one cell.
struct CellFileInput {
  const StoredCell& plan;
  const StoredPlan& sweep;
  const CellHistory& history;
  CellStatus status = CellStatus::Pending;
  CellFacts facts;
};

/// The variables of one cell: `cell` has length 1, a step axis holds the recorded steps.
///
/// Rows of the journals ("train", "eval", "cell") become series and cell-level variables by name;
/// facts are added to them.
/// @throws Error  for names that the table of variables lacks and for numbers of values that fit no
///         shape; both are bugs.
ColumnTable cell_table(const CellFileInput& input);

/// The same without the identity of the cell (param_columns.hpp), which is in the plan.
ColumnTable cell_records(const CellFileInput& input);

/// Builds and seals `metrics.h5`, replacing an older one. @throws StorageError.
void publish_metrics(const std::filesystem::path& cell_dir, const CellFileInput& input,
                     const Fs& disk = real_fs());

/// Builds and seals `result.h5`, which completes the cell.
/// @return false if another attempt has already published the cell's result; this one is dropped.
/// @throws StorageError.
bool publish_result(const std::filesystem::path& cell_dir, const CellFileInput& input,
                    const Fs& disk = real_fs());

}  // namespace depthgrid
