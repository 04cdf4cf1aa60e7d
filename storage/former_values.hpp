#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/columns/table_reader.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Whether release 0.1 wrote the file.
bool of_former_release(const TableReader& file);

/// Leaves that release 0.1 left out of the identity of a cell, though they change what it is
/// trained on: two of its plans could ask for other values under one id. Records that were made
/// with another value than a plan asks for are not of its cell, and do not count.
///
/// Stores that no such release has planned, and those whose plans agree, have none: then nothing
/// but the plans is read.
class FormerValues {
 public:
  /// @param plan  what is asked for: of read_plan() or stored_plan().
  FormerValues(const Store& store, const StoredPlan& plan);
  FormerValues(const Store& store, const Sweep& sweep);

  /// Whether an earlier plan had another value for the cell: then a row that was packed of it may
  /// be of other records than its folder has.
  bool doubtful(const CellId& id) const { return doubtful_.contains(id); }

  /// Why the records in the folder of a cell are not of it, with both values; empty if they are, or
  /// there are none. Reads the cell's files only if plans differ in it.
  std::string of(const CellId& id) const;

 private:
  struct Asked {
    std::string leaf;
    Value value;
  };
  /// @param numbers  of plans of release 0.1.
  void compare(const std::vector<std::int64_t>& numbers, const StoredPlan& plan);

  const Store& store_;
  std::map<CellId, Asked> doubtful_;  // cells of which an earlier plan had another value
};

/// Says of cells that release 0.1 trained with the very values of this sweep, under ids without
/// these leaves or the format of a text, that they have other ids now and are trained anew; empty
/// if there are none.
std::string former_names_note(const Store& store, const Sweep& sweep);

/// Makes the store disregard results that do not count for this sweep, for who only asks what is
/// left to do: a run moves them away. @return  the reasons, one for each cell.
std::vector<std::string> disregard_former(const Store& store, const Sweep& sweep);

}  // namespace depthgrid
