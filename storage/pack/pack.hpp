#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/store.hpp"

namespace depthgrid {

/// Outcome of one pack().
struct PackReport {
  std::filesystem::path file;         // `sweep.h5`
  std::int64_t cells = 0;             // planned
  std::int64_t finished = 0;          // cells with a result
  std::int64_t added = 0;             // results new to the packed file
  bool written = false;               // false: nothing had changed
  std::vector<std::string> problems;  // files left out, with the reason
};

/// Brings `sweep.h5` up to date: the files of all cells concatenated along `cell` in the order of
/// the plan, outer join on the step axes, attempts and events appended.
///
/// Incremental: what a sealed `sweep.h5` already holds is copied from it; those cells' files are
/// not read. Idempotent: if nothing has changed, the file is not touched. Unfinished cells appear
/// with the contents of their journals. With several processes at once, none leaves a view older
/// than its own last check: if cells progressed while it wrote, it packs again, at most three
/// times. A damaged cell file is left out and reported; where `sweep.h5` holds a row of the cell's
/// result, that row stays. A damaged `sweep.h5` is quarantined and rebuilt.
/// @throws StorageError if there is no plan or the file cannot be written.
PackReport pack(const Store& store);

}  // namespace depthgrid
