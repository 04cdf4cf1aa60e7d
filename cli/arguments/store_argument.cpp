#include "cli/arguments/store_argument.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments/slow_progress.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/printable.hpp"
#include "core/base/text_parts.hpp"
#include "core/config/yaml/diagnostics.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/compare/two_stage_record.hpp"
#include "sweeps/report/cell_log.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

bool is_store(const fs::path& folder) {
  return Store::is_at(folder.empty() ? fs::path(".") : folder);
}

bool is_there(const fs::path& file) {
  return real_fs().facts(file, Links::Follow).error == 0;
}

/// Those in results/, by name.
std::vector<std::string> known_stores() {
  std::vector<std::string> out;
  for (const fs::path& folder : real_fs().entries("results")) {
    const bool there = real_fs().facts(folder / "STORE.json", Links::Stay).error == 0;
    if (there) out.push_back(folder.string());  // not one that is closed to this user
  }
  std::ranges::sort(out);
  return out;
}

/// "; in ./results are results/a, results/b": the nearest to a folder that is not there; empty if
/// there are none.
std::string near_stores(const fs::path& folder) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> found = known_stores();
  if (found.empty() || is_there(folder)) return {};
  const std::string name = folder.filename().string();
  std::ranges::stable_sort(found, {}, [&name](const std::string& store) {
    return edit_distance(name, fs::path(store).filename().string());
  });
  const std::size_t all = found.size();
  found.resize(std::min(all, kMost));
  return fmt::format("; {} ./results {} {}", all > kMost ? "the nearest in" : "in",
                     found.size() == 1 ? "is" : "are", fmt::join(found, ", "));
}

/// @throws UserError (NoInput) if what should be a sweep file is a store, with the store's own.
void refuse_store(const std::string& file) {
  if (!is_store(file)) return;
  const fs::path own = fs::path(file) / "sweep.yaml";
  if (!real_fs().is_file(own)) return;
  throw UserError(ExitCode::NoInput,
                  fmt::format("{}: a sweep file was expected, and this is a store; its own file, "
                              "which continues it, is {}",
                              file, own.string()));
}

/// The only store in results/.
fs::path only_store() {
  const std::vector<std::string> found = known_stores();
  if (found.size() == 1) {
    log(LogLevel::Info, found[0] + ": the only store in ./results, as none is named");
    return found[0];
  }
  std::string message = found.empty() ? "no store in ./results: name a store or a sweep file"
                                      : "several stores in ./results: name one of them";
  for (const std::string& name : found) message += "\n  " + name;
  throw UserError(ExitCode::Usage, message);
}

SweepRequest request_of(const CommandLine& line, const std::string& file) {
  refuse_store(file);
  if (!line.has_sweep_options()) return {file, {}, false};
  return {file, line.list_of("set"), line.has("yes")};
}

fs::path store_or_default(const std::string& store, const Sweep& sweep) {
  return store.empty() ? default_store(sweep) : fs::path(store);
}

/// The sweep, with the seeds that a record of its store adds (`--until-ci`): they belong to it from
/// then on, whatever command reads it. @param store  empty: its default one.
Sweep with_added_seeds(SweepRequest& request, const std::string& store) {
  Sweep sweep = load_sweep(request);
  const auto record = read_two_stage(store_or_default(store, sweep));
  const auto added = record ? added_seeds(*record, sweep) : std::nullopt;
  if (!added) return sweep;
  request.set.push_back(*added);
  return load_sweep(request);
}

}  // namespace

Sweep load_sweep(const CommandLine& line) {
  SweepRequest request = request_of(line, line.required("FILE"));
  return with_added_seeds(request, line.text_of("store"));
}

Sweep load_sweep_of_file(const CommandLine& line) {
  return load_sweep(request_of(line, line.required("FILE")));
}

std::optional<SweepSize> count_sweep(const CommandLine& line) {
  return count_sweep(request_of(line, line.required("FILE")));
}

Sweep load_planned_sweep(const CommandLine& line, MatchEffort effort) {
  SweepRequest request = request_of(line, line.required("FILE"));
  Sweep sweep = with_added_seeds(request, line.text_of("store"));
  if (sweep.goals.empty()) return sweep;
  return matched_sweep(request, store_of(line, sweep), described_amounts(), effort);
}

fs::path default_store(const Sweep& sweep) {
  const fs::path folder = fs::path(sweep.file).parent_path();
  return is_store(folder) ? (folder.empty() ? fs::path(".") : folder)
                          : fs::path("results") / sweep.name;
}

fs::path store_of(const CommandLine& line, const Sweep& sweep) {
  return store_or_default(line.text_of("store"), sweep);
}

bool names_table(const std::string& argument) {
  return argument.ends_with(".csv") && real_fs().is_file(argument);
}

StoreArgument::StoreArgument(const CommandLine& line)
    : StoreArgument(line, line.text_of("STORE")) {}

StoreArgument::StoreArgument(const CommandLine& line, const std::string& given) {
  const std::string named = given.empty() ? line.text_of("store") : given;
  if (named.empty()) {
    folder = only_store();
  } else if (real_fs().is_file(named)) {
    if (names_table(named)) {
      throw UserError(ExitCode::Usage,
                      named +
                          " is a table, which `depthgrid compare` alone reads: the folder of a "
                          "store, or a sweep file, was expected");
    }
    request = request_of(line, named);
    const std::string store = given.empty() ? "" : line.text_of("store");
    sweep = with_added_seeds(request, store);
    folder = store_or_default(store, *sweep);
  } else {
    const fs::path inside = fs::path("results") / named;
    folder = !is_there(named) && is_store(inside) ? inside : fs::path(named);
  }
  if (!sweep && line.has_sweep_options() && (line.has("set") || line.has("yes"))) {
    throw UserError(ExitCode::Usage,
                    "--set and --yes are about a sweep file; the plan of the store " +
                        folder.string() + " is as it is: leave them out, or name a sweep file");
  }
}

bool StoreArgument::absent() const {
  return !is_store(folder);
}

Store StoreArgument::open() const {
  if (absent()) {
    throw StorageError(folder.string(),
                       "there is no store here (no STORE.json); depthgrid run makes one, --store "
                       "names another" +
                           near_stores(folder),
                       ExitCode::NoInput);
  }
  return Store::open(folder);
}

Listing StoreArgument::listing(ReadProgress shown) const {
  std::function<void(std::size_t, std::size_t)> progress;
  if (shown == ReadProgress::Shown)
    progress = SlowProgress(printable(folder.string()), "cells read");
  if (!sweep) return list_store(open(), folder.string(), nullptr, progress);
  const Sweep matched =
      sweep->goals.empty() ? *sweep : matched_sweep(request, folder, described_amounts());
  if (absent() || !has_plan(open())) return list_sweep(matched, folder.string());
  return list_store(open(), folder.string(), &matched, progress);
}

CellWords::CellWords(std::vector<std::string> words) : cells(std::move(words)) {
  if (cells.empty()) return;
  const auto there = [](const std::string& word) {
    return !word.empty() &&
           (is_store(word) || is_store(fs::path("results") / word) || real_fs().is_file(word));
  };
  const std::string& last = cells.back();
  if (there(last) || (last.find('/') != std::string::npos && !there(cells.front()))) {
    store = last;
    cells.pop_back();
  } else if (there(cells.front())) {
    store = cells.front();
    cells.erase(cells.begin());
  }
}

CommandLine& sweep_file_options(CommandLine& line) {
  return line.argument("FILE").sweep_options().text(
      "store", "DIR", "folder of the results (default: results/<name of the sweep>)");
}

CommandLine& store_options(CommandLine& line) {
  return line.argument("STORE").sweep_options().text("store", "DIR",
                                                     "folder of the store, or a sweep file");
}

CommandLine& weight_options(CommandLine& line) {
  return store_options(line.argument("CELL"))
      .text("cell", "CELL", "the cell, where the only argument is STORE")
      .text("at", "STEP", "checkpoint: final (default), best, or the number of a step");
}

CommandLine& solver_options(CommandLine& line) {
  return line.number("solver-steps", std::nullopt, "steps of the flow (default: as it was trained)")
      .text("solver-method", "NAME", "method of the flow (default: as it was trained)");
}

std::vector<double> control_signal(const CommandLine& line) {
  std::vector<double> out;
  if (!line.has("control")) return out;
  for (const std::string& word : split_at(line.text_of("control"), ',')) {
    out.push_back(parse_number<double>(word).value_or(kNaN));
    if (!std::isfinite(out.back())) {
      throw UserError(ExitCode::Usage, "--control has '" + word +
                                           "'; expected numbers with commas between them, one for "
                                           "each axis of the control input");
    }
  }
  if (out.empty()) throw UserError(ExitCode::Usage, "--control is empty");
  return out;
}

bool names_weights(const CommandLine& line) {
  return line.has("CELL") || line.has("cell");
}

CellChoice weight_choice(const CommandLine& line) {
  const bool option = line.has("cell");
  if (option && line.has("STORE")) {
    throw UserError(ExitCode::Usage, "there are two cells, " + line.text_of("CELL") + " and " +
                                         line.text_of("cell") +
                                         " (--cell): write CELL [STORE], or [STORE] --cell CELL");
  }
  const std::string cell = option ? line.text_of("cell") : line.required("CELL");
  if (!option && !line.has("STORE") && (is_store(cell) || real_fs().is_file(cell))) {
    throw UserError(ExitCode::Usage, "CELL is missing: " + cell +
                                         " is a store or a file; the cell comes first, as in "
                                         "hidden=4,s0 " +
                                         cell);
  }
  const StoreArgument argument(line, line.text_of(option ? "CELL" : "STORE"));
  const Store store = argument.open();
  const Listing listing = argument.listing();
  CellChoice out{store.root().string(), listing.cells[find_cell(listing, cell)].id};
  if (line.has("at")) out.at = line.text_of("at");
  if (line.has("solver-steps")) out.solver_steps = line.number_of("solver-steps");
  if (line.has("solver-method")) out.solver_method = line.text_of("solver-method");
  return out;
}

}  // namespace depthgrid
