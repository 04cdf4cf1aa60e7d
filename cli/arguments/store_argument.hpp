#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments/command_line.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/matched_sweep.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// The sweep given by FILE, --set and --yes, with the seeds that `--until-ci` has added in its
/// store. @throws SweepErrors, StorageError (NoInput; BadData for a damaged record of these)
Sweep load_sweep(const CommandLine& line);
/// The same without added seeds.
Sweep load_sweep_of_file(const CommandLine& line);
std::optional<SweepSize> count_sweep(const CommandLine& line);

/// The same with the widths of `match:`, from the store of the command line or found by the worker.
/// @throws as matched_sweep()
Sweep load_planned_sweep(const CommandLine& line, MatchEffort effort = MatchEffort::All);

/// The folder of the sweep file if that is a store (its sweep.yaml continues it), else
/// results/<name of the sweep>.
std::filesystem::path default_store(const Sweep& sweep);

/// --store, or default_store().
std::filesystem::path store_of(const CommandLine& line, const Sweep& sweep);

/// Whether an argument is a table of cells, a regular file that ends in ".csv".
bool names_table(const std::string& argument);

enum class ReadProgress : std::uint8_t { Shown, Silent };

/// The argument STORE (or --store) of status, results, logs and pack: the folder of a store, or a
/// sweep file, which means its default store, or the name of a store in results/; if omitted, the
/// only store in results/.
struct StoreArgument {
  std::filesystem::path folder;
  std::optional<Sweep> sweep;  // set if a sweep file was named

  /// @throws UserError (Usage) if no store or more than one was named, or options of sweep files
  ///         were given to a store; StorageError (NoInput)
  explicit StoreArgument(const CommandLine& line);
  /// The same where another argument than STORE may be the store. @param given  "" = none.
  StoreArgument(const CommandLine& line, const std::string& given);

  /// The request by which the sweep file was read.
  SweepRequest request;

  /// True if nothing has been run yet.
  bool absent() const;
  /// @throws StorageError (NoInput)
  Store open() const;
  /// Cells of the store; for a sweep file without a store, all cells as pending.
  /// @param progress  says on stderr how far a large store has been read; not beside a display
  ///                  that draws over its own lines.
  Listing listing(ReadProgress progress = ReadProgress::Shown) const;
};

/// The words of `[CELL…] [STORE]`: the last one is the store if it names a store or a file, else
/// the first one if that does.
struct CellWords {
  std::vector<std::string> cells;
  std::string store;  // "" = none
  explicit CellWords(std::vector<std::string> words);
};

/// Adds FILE, --set, --yes and --store of verbs that train a sweep, or plan it.
CommandLine& sweep_file_options(CommandLine& line);
/// Adds [STORE] and the options that StoreArgument reads.
CommandLine& store_options(CommandLine& line);

/// Adds CELL [STORE], --store, --cell and --at, of verbs about the weights of one cell. With --cell
/// the only argument is STORE.
CommandLine& weight_options(CommandLine& line);
/// Adds --solver-steps and --solver-method, of verbs that run the model.
CommandLine& solver_options(CommandLine& line);
/// --control "1,-0.5", a number for each axis; empty if it is not given. @throws UserError (Usage)
std::vector<double> control_signal(const CommandLine& line);
/// True if CELL or --cell is given.
bool names_weights(const CommandLine& line);
/// The choice made by these options. @throws UserError
CellChoice weight_choice(const CommandLine& line);

}  // namespace depthgrid
