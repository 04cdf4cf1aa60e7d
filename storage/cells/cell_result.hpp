#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/cell.hpp"
#include "core/base/real_fs.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Opens `result.h5` or `metrics.h5` of a cell, checked whole: the seal, and that it is this
/// cell's.
/// @param changed  leaves of the cell that differ from their default, as StoredCell::changed; empty
///                 if not known: the id, which is a digest of them, is compared alone.
/// @throws StorageError: NoInput if there is no file, BadData if it is damaged or another cell's.
TableReader open_cell_file(const std::filesystem::path& file, const CellId& id,
                           const std::string& changed = "", const Fs& disk = real_fs());

ResultState result_state(const std::filesystem::path& file, const CellId& id,
                         const Fs& disk = real_fs());

/// Remembers which results were found sound, so that a file is not read again as long as it stays
/// the same file of the same size and times, the last of them some seconds ago. May be used by
/// several threads.
class ResultChecks {
 public:
  /// @param packed_file  what was packed from a result of the same digest is proof that the result
  /// is
  ///                     this cell's: it is hashed, and HDF5 need not open it.
  /// @param disk  outlives it.
  ResultChecks(std::filesystem::path packed_file, const Fs& disk)
      : packed_file_(std::move(packed_file)), disk_(disk) {}

  ResultState state(const std::filesystem::path& file, const CellId& id);

  /// From now on, what has the name of the cell's result is none, whatever it is.
  void disregard(const CellId& id, std::string why);

 private:
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    FileTime modified{}, changed{};
    bool operator==(const Stamp&) const = default;
  };
  bool is_packed(const std::filesystem::path& file, const CellId& id);

  std::filesystem::path packed_file_;
  const Fs& disk_;
  std::once_flag once_;
  std::map<CellId, std::string> packed_;

  std::mutex mutex_;
  std::map<CellId, Stamp> sound_;
  std::map<CellId, std::string> disregarded_;
};

}  // namespace depthgrid
