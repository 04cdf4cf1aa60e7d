#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/match.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"

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
};

/// What `plan.h5` holds: the sweep as it was first planned. It needs neither the YAML nor its
/// bases.
struct StoredPlan {
  std::string name, description, method, metric, goal, file, yaml, id, order, baseline_arm;
  std::string created;        // ISO 8601 UTC
  std::string schema_digest;  // of the table of leaves that resolved the cells
  std::string code_version;
  std::vector<std::string> tags, notes;
  std::vector<MatchedWidth> matched;  // widths found for `match:`
  std::int64_t seeds = 1;
  ValueMap constant;  // resolved leaves that all cells share
  std::vector<StoredCell> cells;
};

/// All resolved leaves of one cell as canonical JSON: CellConfig::json() of the cell planned.
std::string resolved_json(const StoredPlan& plan, const StoredCell& cell);

/// The configuration of one cell. @throws UserError (BadData) if this program cannot read it.
CellConfig resolved_config(const StoredPlan& plan, const StoredCell& cell);

/// The plan as read_plan() would return it, without a store (and without a time of creation).
StoredPlan stored_plan(const Sweep& sweep);

/// Publishes `plan.h5` (sealed) once, then the `sweep.yaml` of the published plan. If several
/// processes try, the first one's plan stays. If one dies in between, the next publishes the text.
///
/// Publishing the same cells again changes nothing, whatever the leaves of class Execution say.
/// @throws UserError (CantCreate) if the store holds a different plan: the message counts the cells
///         added and removed and names the first leaf that differs.
void publish_plan(Store& store, const Sweep& sweep);

/// True when a plan has been published.
bool has_plan(const Store& store);

/// @throws StorageError: NoInput if there is no plan, BadData if it is damaged.
StoredPlan read_plan(const Store& store);

}  // namespace depthgrid
