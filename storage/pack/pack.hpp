#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/store.hpp"

namespace depthgrid {

/// What one pack() did.
struct PackReport {
  std::filesystem::path file;         // `sweep.h5`
  std::int64_t cells = 0;             // planned
  std::int64_t finished = 0;          // of these, with a result
  std::int64_t added = 0;             // results that the packed file had not held before
  bool written = false;               // false: nothing had changed
  std::vector<std::string> problems;  // files left out, with the reason
};

/// Brings `sweep.h5` up to date: the files of all cells concatenated along `cell` in the order of
/// the plan, outer join on the step axes, attempts and events appended.
///
/// Incremental: what a sealed `sweep.h5` already holds is copied from it, unread. Idempotent: when
/// nothing has changed, the file is not touched. Unfinished cells are there with what their
/// journals hold. Of several processes at once, none leaves an older view than its own last look:
/// when cells have moved on while it wrote, it packs again, at most three times. A damaged cell
/// file is left out and reported; a damaged `sweep.h5` is built anew.
/// @throws StorageError if there is no plan or the file cannot be written.
PackReport pack(const Store& store);

}  // namespace depthgrid
