#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/real_fs.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/match.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {

/// One row of `plan.h5`.
struct StoredCell {
  CellId id;
  std::string alias, arm, factor, tag;
  std::string structure;  // fusion key, 16 hex
  std::int64_t row = 0, replicate = 0;
  std::int64_t seed = 0, data_seed = 0;
  bool baseline = false;
  ValueMap overrides;  // leaves that the sweep varies and this cell reads
  std::string
      changed;  // canonical JSON of the leaves that differ from their default (what the id hashes)
  ValueMap varying;  // resolved value of every leaf that differs between two cells of the plan
  std::int64_t generation = 1;  // newest plan of the store that has this cell
};

/// What a plan file holds: the sweep as one run planned it. It needs neither the YAML nor its
/// bases. Or all plans of a store as one, see read_plan().
struct StoredPlan {
  std::string name, description, method, metric, goal, file, yaml, id, order, baseline_arm;
  std::string created;        // ISO 8601 UTC
  std::string sources;        // the files as they were read, JSON [{"file", "text"}]
  std::string schema_digest;  // of the table of leaves that resolved the cells
  std::string code_version;
  std::vector<std::string> tags, notes;
  std::vector<MatchedWidth> matched;  // widths found for `match:`
  std::int64_t seeds = 1;
  ValueMap constant;  // resolved leaves that all cells share
  std::vector<StoredCell> cells;
  std::int64_t generation = 1;  // number of the plan in its store; of several, of the newest
  /// Of read_plan(): earlier plans that are damaged or gone, one line each. Cells that only these
  /// plans have are not known.
  std::vector<std::string> damages;
};

/// True if the newest plan of the store has the cell.
inline bool in_newest_plan(const StoredPlan& plan, const StoredCell& cell) {
  return cell.generation == plan.generation;
}

/// The value of a leaf in a cell; null pointer if its plan does not have the leaf.
const Value* leaf_of(const StoredPlan& plan, const StoredCell& cell, std::string_view leaf);

/// All resolved leaves of one cell as canonical JSON: CellConfig::json() of the cell planned.
std::string resolved_json(const StoredPlan& plan, const StoredCell& cell);

/// The configuration of one cell. @throws UserError (BadData) if this program cannot read it.
CellConfig resolved_config(const StoredPlan& plan, const StoredCell& cell);

/// The plan as read_plan() would return it, without a store (and without a time of creation).
StoredPlan stored_plan(const Sweep& sweep);

/// The hashed leaves of a cell (StoredCell::changed) without those that its seed sets: equal for
/// all seeds of an arm. What a cell starts from is left out if it is another cell.
std::string arm_configuration(const std::string& changed);

/// Publishes a plan as this file (sealed) unless the file exists. @return false if it does.
bool publish_plan_file(const std::filesystem::path& file, const StoredPlan& plan,
                       const Fs& disk = real_fs());

/// One plan; its generation and that of its cells is `generation`.
/// @throws StorageError: NoInput if there is no such file, BadData if it is damaged.
StoredPlan read_plan_file(const std::filesystem::path& file, std::int64_t generation,
                          const Fs& disk = real_fs());

}  // namespace depthgrid
