#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/fs.hpp"
#include "storage/hdf5/h5_handles.hpp"

namespace depthgrid {

/// The private file of a builder.
///
/// A small one is in /dev/shm or $TMPDIR and unlinked as soon as it is open, so that nothing is
/// left if this process is killed. A large one is beside the target under a name that the folder's
/// next owner removes.
class H5Scratch {
 public:
  /// @param disk  outlives it. HDF5 itself goes by the paths of this machine.
  H5Scratch(const std::filesystem::path& beside, std::uint64_t expected_bytes, const Fs& disk);
  ~H5Scratch();
  H5Scratch(const H5Scratch&) = delete;
  H5Scratch& operator=(const H5Scratch&) = delete;

  hid_t file() const { return file_.get(); }
  bool named() const { return !name_.empty(); }

  /// Flushes and closes the HDF5 file, checking every step; idempotent.
  void close();

  /// All bytes; call after close().
  std::vector<std::byte> bytes() const;

  /// Seals a named file in place: hashes what is read back, then writes the seal.
  void seal_in_place(std::int64_t generation);

  /// Releases a named file to the caller, who installs it under its final name.
  std::filesystem::path hand_over();

 private:
  void create(const std::filesystem::path& file);

  std::filesystem::path name_;  // empty once the file has no name
  const Fs& disk_;
  std::unique_ptr<OpenFile> open_;
  H5File file_;
};

}  // namespace depthgrid
