#pragma once

#include <string>
#include <string_view>

#include "cli/arguments/command_line.hpp"
#include "sweeps/report/cell_settings.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// The configurations that STORE (or --store) of `show` and `diff` names: those of the sweep file
/// where one is named, else those of the store's plan.
struct CellSettingsArgument {
  CellSettings settings;
  Listing listing;  // names of the cells only

  /// @throws as StoreArgument, load_sweep() and read_plan()
  explicit CellSettingsArgument(const CommandLine& line);

  /// Row of a cell. @throws UserError (Usage) as find_cell()
  std::size_t row(std::string_view cell) const;
};

}  // namespace depthgrid
