#pragma once

#include <filesystem>
#include <optional>

#include "core/base/cell.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Makes a cell one that was never tried: its result, records and checkpoints go to the folder
/// `earlier-N` in its own, N = 1, 2, …; claims stay, so numbers of attempts go on.
/// @return  that folder.
/// @throws  UserError (TempFail) if another process has the cell; StorageError.
std::filesystem::path archive_records(const Store& store, const CellId& id, LeaseKeeper& leases);

/// The same for a cell that is done. Rows that `pack` has copied stay in sweep.h5 until the new
/// result is packed.
/// @return  nothing if the cell has no result: then a run trains it anyway.
std::optional<std::filesystem::path> archive_result(const Store& store, const CellId& id,
                                                    LeaseKeeper& leases);

}  // namespace depthgrid
