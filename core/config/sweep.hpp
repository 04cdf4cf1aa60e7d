#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/match.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

/// One cell of the grid, named and resolved.
struct CellPlan {
  CellId id;
  std::string alias;     // "hidden=64,scale=1,s0", unique in the sweep
  std::string arm;       // the alias without the seed
  std::string factor;    // method ablation: the leaf (or leaves, joined by "+") changed; else empty
  std::string tag;       // of an include row
  std::int64_t row = 0;  // position in the plan; for display
  std::int64_t replicate = 0;  // index of the seed
  std::int64_t seed = 0;
  bool baseline = false;  // belongs to the baseline arm
  std::string structure;  // fusion key, 16 hex
  ValueMap overrides;     // resolved values of the leaves that vary in this sweep and are read here
  CellConfig config;
};

/// A cell that starts from another's final weights (`model.init.from: arm:` or `cell:`).
struct SweepStart {
  CellId cell, source;
  Diagnostic where;  // its line in the file, without a message
};

/// What wrote a leaf.
enum class LeafSourceKind : std::uint8_t {
  Preset,  ///< `model.preset`
  Base,    ///< a fixed value of a file named by `base:`
  File,    ///< a fixed value of the sweep file
  Factor,  ///< a level of `parameters`, `zip` or `when`, or a preset that is one
  Row,     ///< an `include` row, or the change of an ablation
  Set      ///< --set
};
inline constexpr std::string_view kLeafSourceNames[] = {"preset", "base", "file",
                                                        "factor", "row",  "set"};
constexpr std::string_view name_of(LeafSourceKind kind) noexcept {
  return kLeafSourceNames[static_cast<std::size_t>(kind)];
}

/// Where the value of a leaf was written. Leaves at their default have none.
struct LeafSource {
  std::string leaf;
  LeafSourceKind kind = LeafSourceKind::File;
  std::string file;  // empty for a preset
  int line = 0;
  std::string text = {};  // of --set
};

/// A sweep file, expanded.
struct Sweep {
  std::string name, description;
  std::string method;        // grid, ablation, list
  std::string metric, goal;  // "eval_loss.valid", "minimize"
  std::string yaml;          // one file that gives this sweep from any folder: composed_yaml()
  std::string file;          // as given
  std::string id;            // 16 hex: of name, metric and the cells in order
  std::string order;         // "file" or "shuffled(n)"
  std::string baseline_arm;  // arm of the baseline cells
  std::vector<std::string> tags;
  std::vector<CellPlan> cells;
  std::vector<std::string> notes;     // merged duplicates, dropped leaves, excludes without effect
  std::vector<SweepSource> sources;   // the file, its bases, the overrides
  std::int64_t seeds = 1;             // replicates
  std::vector<MatchedWidth> matched;  // widths set by `match:`
  std::vector<MatchGoal> goals;       // arms still without a width: their cells are not final
  std::vector<SweepStart> starts;     // each source before those that start from it
  CellConfig run;                     // leaves of class Execution for the whole sweep
  std::map<std::string, std::vector<LeafSource>> leaf_sources;  // by arm, if asked for
};

struct SweepRequest {
  std::filesystem::path file;
  std::vector<std::string> set;            // "key=value[,value...]"; a comma makes a factor
  bool yes = false;                        // accept more than 10,000 cells
  std::vector<MatchedWidth> matched = {};  // widths found before, see matched_sweep()
  bool leaf_sources = false;               // fill Sweep::leaf_sources: memory for each arm
};

/// Reads, checks and expands a sweep file. Needs no corpus and has no side effects. Widths of
/// `match:` are taken from the request; matched_sweep() of sweeps/ finds missing ones.
/// @throws SweepErrors (Usage) with all problems; StorageError (NoInput) if the file is missing.
Sweep load_sweep(const SweepRequest& request);

/// How large the grid of a valid sweep file is.
struct SweepSize {
  std::string name, file;
  std::size_t cells = 0, structures = 0;
  std::vector<std::string> notes;
};

/// Checks a sweep file as load_sweep() does, but keeps 8 bytes of each cell only: a grid of a
/// million cells takes a second.
/// @return  nothing if that is too little to judge the file: with `match:`, cells that start from
///          trained weights, and duplicate cells, which a note would name.
/// @throws  as load_sweep().
std::optional<SweepSize> count_sweep(const SweepRequest& request);

}  // namespace depthgrid
