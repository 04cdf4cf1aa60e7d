#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/orders/cell_orders.hpp"
#include "sweeps/plan/matched_sweep.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// The sweep that FILE, --set and --yes name. @throws SweepErrors, StorageError (NoInput)
Sweep load_sweep(const CommandLine& line);

/// The same with the widths of `match:`, from the store of the command line or found by the worker.
/// @throws as matched_sweep()
Sweep load_planned_sweep(const CommandLine& line, MatchEffort effort = MatchEffort::All);

/// --store, or results/<name of the sweep>.
std::filesystem::path store_of(const CommandLine& line, const Sweep& sweep);

/// What STORE (or --store) of status, results, logs and pack means: the folder of a store, or a
/// sweep file, which stands for its default store; left out, the only store in results/.
struct StoreArgument {
  std::filesystem::path folder;
  std::optional<Sweep> sweep;  // set if a sweep file was named

  /// @throws UserError (Usage) if nothing or too much was named, StorageError (NoInput)
  explicit StoreArgument(const CommandLine& line);

  /// What read the sweep file.
  SweepRequest request;

  /// True if nothing has been run yet.
  bool absent() const;
  /// @throws StorageError (NoInput)
  Store open() const;
  /// Cells of the store; of a sweep file without a store, all of them pending.
  Listing listing() const;
};

/// --store, --cell and --at of verbs about the weights of one cell: adds them to the line.
CommandLine& weight_options(CommandLine& line);
/// What they mean. @throws UserError
CellChoice weight_choice(const CommandLine& line);

}  // namespace depthgrid
