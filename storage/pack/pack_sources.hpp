#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/cells/state_file.hpp"
#include "storage/columns/column_table.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Source of one cell's numbers in the packed file.
struct CellSource {
  enum class Kind : std::uint8_t {
    Whole,  // `table` has everything: of an unfinished cell, or with measurements of stored weights
    File,   // result.h5; `table` has everything but the series
    Packed  // the previous packed file, same row; `table` is empty. Also where the result that
            // the row was packed from is damaged or gone: a finished row is never overwritten
            // by an unfinished one
  };
  Kind kind = Kind::Whole;
  std::string seal;           // SHA-256 of result.h5, hex; empty for unfinished cells
  std::string probe_records;  // probe_records_digest() of the probe records in `table`, or in the
                              // packed row
  ColumnTable table;
  std::vector<std::string> series;  // File: names of the variables over a step axis
};

struct PackSources {
  std::vector<CellSource> cells;               // in the order of the plan
  std::vector<std::vector<StateFile>> states;  // files of raw states of each cell
  std::optional<TableReader> previous;         // previous packed file, if valid and of this plan
  /// Changes when anything that goes into the packed file does.
  std::string digest;
  std::string finalised;         // finalised_digest() of the same view
  std::string probe_leaves;      // probe_leaves_digest() of the plan
  std::string library_versions;  // of a cell file
  std::vector<std::string> problems;
  bool damaged_previous = false;  // something that is no packed file has its name
};

/// True for variables over a step axis, which are read only when their chunk is built.
bool is_series(const std::vector<std::string>& dims);

/// Examines every cell of the plan: the seal of its result, or its journals. Cells already in the
/// packed file are not read; the others only if the digest has changed.
PackSources gather_sources(const Store& store, const StoredPlan& plan);

/// Changes when a cell gets a result or another state, and with the records of cells that are not
/// running. Records of running cells do not count: they change all the time.
std::string finalised_digest(const Store& store, const StoredPlan& plan);

/// The series of a result, as stored bytes. gather_sources() has verified its seal.
ColumnTable read_series(const Store& store, const StoredCell& cell);

}  // namespace depthgrid
