#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Files that killed processes have left and nobody will use again.
struct Leftovers {
  std::vector<std::filesystem::path> files;  // sorted
  std::uintmax_t bytes = 0;
};

/// Unfinished files ".tmp-*" of a store: in the folder of a cell, if nobody holds the cell or its
/// owner has surely died; elsewhere, once they are an hour old by the clock of the store's own
/// filesystem. A process that lives nevertheless writes its file again (publish.hpp).
Leftovers store_leftovers(const Store& store);

/// Segments of shared memory that Open MPI's processes of this user and host have left: those that
/// no process has mapped, older than a minute. An MPI process that is killed cannot remove its own.
/// Also files ".tmp-*" of killed processes that were building an HDF5 file in memory (H5Scratch).
/// @param folder  /dev/shm, except in tests.
Leftovers shared_memory_leftovers(const std::filesystem::path& folder = "/dev/shm",
                                  const Fs& disk = real_fs());

/// What the clock of this folder's filesystem shows; hosts that share it may have others.
/// Time 0 if no file can be made there.
FileTime filesystem_time(const std::filesystem::path& folder, const Fs& disk = real_fs());

/// Removes them, folders after what is in them. @return  for each file that stays, "path: reason".
std::vector<std::string> remove_leftovers(const Leftovers& leftovers, const Fs& disk = real_fs());

}  // namespace depthgrid
