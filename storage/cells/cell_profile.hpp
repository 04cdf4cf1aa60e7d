#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/nan.hpp"
#include "core/base/real_fs.hpp"

namespace depthgrid {

class TableReader;

/// A variable of the probes, or of the end of a cell, along one or two of its axes.
struct ProfileRequest {
  std::string_view variable;  // over cell, and other axes
  std::string_view axis;      // along it: depth, layer, exponent, fine_depth, probe_step, …
  std::string_view by = {};   // a line for each entry of this one; empty: one line
  /// Entry of an axis of names that counts in place of its first: "heldout" of steering_part.
  std::string_view only = {};
};

/// What a finished cell has of it.
struct CellProfile {
  /// Optimiser steps done at the measurement; NaN along (or by) probe_step and for what has no
  /// measurements.
  double step = kNaN;
  std::vector<double> at = {};  // (n) coordinates along the axis, ascending; of names 0, 1, …
  std::vector<std::string> names = {};  // (n) the same as texts
  std::vector<std::string> lines = {};  // (m) entries of `by`; without it one, empty
  std::vector<double> values = {};      // (m, n), lines one after the other; NaN: nothing was seen
};

/// Reads them from a cell's `result.h5`, opened by open_cell_file(), or opened here once.
///
/// Of a variable over probe_step, the last measurement with a number counts, unless all are asked
/// for. Axes that are not asked for are averaged over (numbers that are finite), but for those of
/// names that are alternatives (lyapunov_variant, token_class, steering_part, …), of which one
/// entry counts. Types of weight are parts of one model: their mean counts. Entries without any
/// number are left out: measurements of other probes, layers that never skip tokens.
/// @return  in the order of the requests; nothing where the file lacks the variable, the variable
///          lacks an axis or the entry, or no number is finite.
/// @throws StorageError as open_cell_file()
std::vector<std::optional<CellProfile>> read_cell_profiles(
    const TableReader& result, std::span<const ProfileRequest> requests);
std::vector<std::optional<CellProfile>> read_cell_profiles(const std::filesystem::path& result,
                                                           const CellId& id,
                                                           std::span<const ProfileRequest> requests,
                                                           const Fs& disk = real_fs());

}  // namespace depthgrid
