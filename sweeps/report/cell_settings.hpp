#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// A leaf of one cell, resolved.
struct CellSetting {
  std::string leaf;
  Value value;
  bool read = true;  // whether a cell of this configuration reads the leaf
  /// "default", "derived" (from other leaves), "set" (a store does not say where), "match",
  /// "seeds", else a LeafSourceKind.
  std::string origin;
  std::string file;  // of origins in a file; "--set"
  int line = 0;
  std::string text;  // of --set
};

/// The plan of a store or of a sweep file, with the places of values where a file was read.
struct CellSettings {
  StoredPlan plan;
  std::map<std::string, std::vector<LeafSource>> leaf_sources;  // by arm; empty for a store
};

/// The settings of a cell in the order of the schema.
std::vector<CellSetting> settings_of(const CellSettings& settings, std::size_t row);

/// Leaf, value and origin: of the leaves that the cell reads, or of all.
std::string settings_text(const CellSettings& settings, std::size_t row, bool all);
/// {"schema": 1, "id", "alias", "arm", "tag", "structure", "leaves": [{leaf, value, read, origin,
/// file, line}]}; docs/cli.md.
std::string settings_json(const CellSettings& settings, std::size_t row);

/// The leaves in which two cells differ, and whether they can train in one job.
std::string difference_text(const CellSettings& settings, std::size_t a, std::size_t b);
/// {"schema": 1, "a": {id, alias}, "b": {id, alias}, "same_structure", "leaves": [{leaf, a, b}]}
std::string difference_json(const CellSettings& settings, std::size_t a, std::size_t b);

}  // namespace depthgrid
