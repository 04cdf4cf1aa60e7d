#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell.hpp"

namespace depthgrid {

/// A variable of the probes, along one of its axes.
struct ProfileRequest {
  std::string_view variable;  // over cell, probe_step, … and this axis
  std::string_view axis;      // depth, depth_edge, layer, exponent
};

/// What a probe saw of a finished cell at its last look.
struct CellProfile {
  double step = 0;             // of the look
  std::vector<double> values;  // along the axis; NaN where nothing was seen
};

/// Reads them from a cell's `result.h5`, which is opened once. Axes besides cell, probe_step and
/// the one asked for are averaged over, but for those of names (lyapunov_variant, token_class,
/// eval_mode, …), of which the first counts.
/// @return  in the order of the requests; nothing where the file lacks the variable, the variable
///          lacks the axis, or no look has a number.
/// @throws StorageError as open_cell_file()
std::vector<std::optional<CellProfile>> read_cell_profiles(
    const std::filesystem::path& result, const CellId& id,
    std::span<const ProfileRequest> requests);

}  // namespace depthgrid
