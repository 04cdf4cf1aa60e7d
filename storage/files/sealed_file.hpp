#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/digest.hpp"
#include "core/base/real_fs.hpp"

namespace depthgrid {

/// Bytes of the seal: the HDF5 user block, which HDF5 itself, h5py and xarray skip.
///
/// Layout (little-endian): "depthgrid-seal\n\0", u32 format = 1, u32 size = 512, u64 length of the
/// rest, i64 generation, SHA-256 of the rest, zeros, u32 CRC-32C of the preceding 508 bytes. So
/// `tail -c +513 FILE | sha256sum` prints the digest, and every byte of the file is covered.
inline constexpr std::size_t kSealBytes = 512;

struct SealInfo {
  std::int64_t generation = 0;  // of the attempt that wrote the file; 0 = none
  std::uint64_t length = 0;     // bytes after the seal
  Sha256 digest{};              // of these bytes
};

/// Writes the seal into the first 512 bytes of `file`, the image of a whole HDF5 file with a user
/// block of that size. @throws Error if it is shorter.
void seal_image(std::span<std::byte> file, std::int64_t generation);

/// The 512 bytes of a seal.
std::vector<std::byte> seal_block(const SealInfo& info);

/// Length and digest of what follows the seal's block in an open file; the generation stays 0.
/// @param path  its name, for messages. @throws StorageError (CantCreate) with errno.
SealInfo measure_rest(OpenFile& file, const std::filesystem::path& path);

/// Reads the whole file and checks its seal. @throws StorageError: NoInput, or BadData with the
/// reason: no seal, unknown format, truncated, damaged.
SealInfo verify_sealed_file(const std::filesystem::path& file, const Fs& disk = real_fs());

/// The seal alone, not checked against the rest: a cheap check whether a file has changed.
/// Nothing if the file is missing, too short or has no valid seal block.
std::optional<SealInfo> peek_seal(const std::filesystem::path& file, const Fs& disk = real_fs());

/// Reads from offset `at` until `bytes` is full or the file ends. @return how many bytes were read.
std::size_t read_up_to(OpenFile& file, std::span<std::byte> bytes, std::uint64_t at,
                       const std::filesystem::path& path);

/// All bytes of a regular file; symbolic links are not followed.
/// @throws StorageError (NoInput if absent, else CantCreate with errno).
std::vector<std::byte> read_file(const std::filesystem::path& file, const Fs& disk = real_fs());
std::string read_text_file(const std::filesystem::path& file, const Fs& disk = real_fs());

/// True if the file holds exactly these bytes; read in chunks. Errors as for read_file().
bool file_equals(const std::filesystem::path& file, std::span<const std::byte> bytes,
                 const Fs& disk = real_fs());

}  // namespace depthgrid
