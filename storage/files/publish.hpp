#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/base/unique_handle.hpp"

namespace depthgrid {

struct FdTraits {
  using Handle = int;
  static constexpr Handle null() noexcept { return -1; }
  static void release(Handle fd) noexcept;
};
using Fd = UniqueHandle<FdTraits>;

/// Atomic publication: readers see the whole old or the whole new file, whatever is killed when.
///
/// Bytes go to ".tmp-PROCESS-RANDOM" beside the target (O_EXCL, O_NOFOLLOW, mode 0640), are synced,
/// then renamed or linked, and the folder is synced. After any error the temporary file is removed,
/// the old file stays, and StorageError (CantCreate) names path, errno and, on a full disk, the
/// bytes needed and free. A failed fsync is never repeated on the same descriptor.
/// A folder under the name of a file that is replaced is set aside (set_aside.hpp).
/// If a network filesystem reports an error for a rename or link that did happen, the target shows
/// it. A temporary file that another process removed (remove_scratch()) is written and installed
/// again, at most three times: an owner whose folder was taken over may still publish there.
void publish_replace(const std::filesystem::path& target, std::span<const std::byte> bytes);

/// @return  false if the target existed; it is left unchanged.
bool publish_once(const std::filesystem::path& target, std::span<const std::byte> bytes);

void publish_replace(const std::filesystem::path& target, std::string_view text);
bool publish_once(const std::filesystem::path& target, std::string_view text);

/// The same for a complete file `scratch` on the same filesystem; it is gone afterwards. If another
/// process removed it, StorageError is thrown: only the caller could write it again.
void install_replace(const std::filesystem::path& target, const std::filesystem::path& scratch);
bool install_once(const std::filesystem::path& target, const std::filesystem::path& scratch);

/// Names of unfinished files begin with this.
inline constexpr std::string_view kScratchPrefix = ".tmp-";

/// A fresh name ".tmp-PROCESS-RANDOM" in `folder`, see process_tag().
std::filesystem::path scratch_name(const std::filesystem::path& folder);

/// Removes files ".tmp-*" that killed processes left in `folder`. The caller must hold the folder's
/// lease. Errors are ignored: such files do no harm.
void remove_scratch(const std::filesystem::path& folder) noexcept;

/// Removes those of dead processes of this machine, and those that nobody has written to for a day.
/// For folders that no lease guards.
void remove_dead_scratch(const std::filesystem::path& folder) noexcept;

/// Writes all bytes, continuing after short writes and EINTR.
/// @throws StorageError (CantCreate) with errno; on ENOSPC or EDQUOT with needed and free bytes.
void write_all(int fd, std::span<const std::byte> bytes, const std::filesystem::path& file);

/// @throws StorageError (CantCreate) if the folder cannot be synced.
void sync_folder(const std::filesystem::path& folder);

/// Creates the folder and its missing parents, mode 0750; no error if it exists.
void make_folders(const std::filesystem::path& folder);

/// @throws StorageError for a failed call: "No space left on device (needed 12 bytes, free 0)".
[[noreturn]] void throw_errno(const std::filesystem::path& path, const std::string& what, int code,
                              std::uint64_t needed_bytes = 0);

}  // namespace depthgrid
