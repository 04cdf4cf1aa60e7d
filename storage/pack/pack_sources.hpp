#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/columns/column_table.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Where the numbers of one cell of the packed file come from.
struct CellSource {
  enum class Kind : std::uint8_t {
    Unfinished,  // journals; `table` has everything
    File,        // result.h5; `table` has everything but the series
    Packed       // the packed file before, same row; `table` is empty
  };
  Kind kind = Kind::Unfinished;
  std::string seal;  // SHA-256 of result.h5, hex; empty for unfinished cells
  ColumnTable table;
  std::vector<std::string> series;  // File: names of the variables over a step axis
};

struct PackSources {
  std::vector<CellSource> cells;        // in the order of the plan
  std::optional<TableReader> previous;  // the packed file before, if it is sound and of this plan
  /// Changes when anything that goes into the packed file does.
  std::string digest;
  std::string settled;           // settled_digest() of the same view
  std::string library_versions;  // of a cell file
  std::vector<std::string> problems;
};

/// True for variables over a step axis: they are read when their chunk is built, not before.
bool is_series(const std::vector<std::string>& dims);

/// Looks at every cell of the plan: the seal of its result, or its journals. Nothing is read of
/// cells that the packed file holds already; the rest only if the digest has changed.
PackSources gather_sources(const Store& store, const StoredPlan& plan);

/// Changes when a cell comes to a result or another state, and with what is recorded of cells that
/// nobody is at work on. What running cells record does not count: that changes all the time.
std::string settled_digest(const Store& store, const StoredPlan& plan);

/// The series of a result, as bytes of the file. Its seal has been verified by gather_sources().
ColumnTable read_series(const Store& store, const StoredCell& cell);

}  // namespace depthgrid
