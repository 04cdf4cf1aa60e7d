#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/base/real_fs.hpp"

namespace depthgrid {

/// Atomic publication: readers see the whole old or the whole new file, whatever is killed when.
///
/// Bytes go to ".tmp-PROCESS-RANDOM" beside the target, a file of its own (OpenFolder::create()),
/// are synced, then renamed or linked, and the folder is synced. After any error that file is
/// removed, the old file stays, and StorageError (CantCreate) names path, errno and, on a full
/// disk, the bytes needed and free. A failed fsync is never repeated on the same descriptor. A
/// folder under the name of a file that is replaced is quarantined (quarantine.hpp). If a network
/// filesystem reports an error for a rename or link that did happen, the target shows it. A
/// temporary file that another process removed (remove_scratch()) is written and installed again,
/// at most three times: an owner whose folder was taken over may still publish there.
/// @param disk  here and below: that of the store, Store::fs().
void publish_replace(const std::filesystem::path& target, std::span<const std::byte> bytes,
                     const Fs& disk = real_fs());

/// @return  false if the target existed; it is left unchanged.
bool publish_once(const std::filesystem::path& target, std::span<const std::byte> bytes,
                  const Fs& disk = real_fs());

void publish_replace(const std::filesystem::path& target, std::string_view text,
                     const Fs& disk = real_fs());
bool publish_once(const std::filesystem::path& target, std::string_view text,
                  const Fs& disk = real_fs());

/// The same for a complete file `scratch` on the same filesystem; it is gone afterwards. If another
/// process removed it, StorageError is thrown: only the caller could write it again.
void install_replace(const std::filesystem::path& target, const std::filesystem::path& scratch,
                     const Fs& disk = real_fs());
bool install_once(const std::filesystem::path& target, const std::filesystem::path& scratch,
                  const Fs& disk = real_fs());

/// Names of unfinished files begin with this.
inline constexpr std::string_view kScratchPrefix = ".tmp-";

/// A fresh name ".tmp-PROCESS-RANDOM" in `folder`, see process_tag().
std::filesystem::path scratch_name(const std::filesystem::path& folder);

/// Removes files ".tmp-*" that killed processes left in `folder`. The caller must hold the folder's
/// lease. Errors are ignored: such files do no harm.
void remove_scratch(const std::filesystem::path& folder, const Fs& disk = real_fs()) noexcept;

/// Removes those of dead processes of this machine, and those that nobody has written to for a day.
/// For folders that no lease guards.
void remove_dead_scratch(const std::filesystem::path& folder, const Fs& disk = real_fs()) noexcept;

/// Writes all bytes, continuing after short writes and EINTR.
/// @throws StorageError (CantCreate) with errno; on ENOSPC or EDQUOT with needed and free bytes.
/// @param path  its name.
void write_all(OpenFile& file, std::span<const std::byte> bytes, const std::filesystem::path& path,
               const Fs& disk = real_fs());

/// @throws StorageError (CantCreate) if the folder cannot be synced.
void sync_folder(const std::filesystem::path& folder, const Fs& disk = real_fs());

/// Creates the folder and its missing parents; no error if it exists.
void make_folders(const std::filesystem::path& folder, const Fs& disk = real_fs());

/// @throws StorageError (CantCreate) for a failed call, with what to do: "cannot write: No space
/// left on device (errno 28); needed 12 bytes, free 0; free some space and run the same command
/// again"; where something belongs to another user, with owner and mode.
[[noreturn]] void throw_errno(const std::filesystem::path& path, const std::string& what, int code,
                              std::uint64_t needed_bytes = 0, const Fs& disk = real_fs());

}  // namespace depthgrid
