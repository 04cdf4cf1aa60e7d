#include "storage/files/sealed_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/files/crc32c.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 16> kSealMagic = {'d', 'e', 'p', 't', 'h', 'g', 'r',  'i',
                                             'd', '-', 's', 'e', 'a', 'l', '\n', '\0'};
constexpr std::uint32_t kSealFormat = 1;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr std::size_t kCrcAt = kSealBytes - 4;

/// The used part of the block, as on disk.
struct Header {
  std::array<char, 16> magic = kSealMagic;
  std::uint32_t format = kSealFormat;
  std::uint32_t size = kSealBytes;
  std::uint64_t length = 0;
  std::int64_t generation = 0;
  Sha256 digest{};
};
static_assert(sizeof(Header) == 72);

[[noreturn]] void bad(const fs::path& name, const std::string& why) {
  throw StorageError(name, why, ExitCode::BadData);
}

/// The seal's own block, checked; the digest of the rest is not checked.
SealInfo parse_block(std::span<const std::byte> block, const fs::path& name) {
  if (block.size() < kSealBytes) {
    bad(name, fmt::format("too short for a sealed file ({} bytes)", block.size()));
  }
  Header header;
  std::memcpy(&header, block.data(), sizeof header);
  if (header.magic != kSealMagic)
    bad(name, "not a sealed file of depthgrid, or its head is damaged");
  std::uint32_t crc = 0;
  std::memcpy(&crc, block.data() + kCrcAt, sizeof crc);
  if (crc != crc32c(block.first(kCrcAt))) bad(name, "the seal is damaged");
  if (header.format != kSealFormat || header.size != kSealBytes) {
    bad(name, fmt::format("seal format {}, this program reads {}: use a newer release",
                          header.format, kSealFormat));
  }
  return {header.generation, header.length, header.digest};
}

std::unique_ptr<OpenFile> open_regular(const fs::path& file, const Fs& disk) {
  auto [open, error] = disk.open(file, OpenHow::Read);
  if (error == ENOENT) throw StorageError(file, "no such file", ExitCode::NoInput);
  if (error == ELOOP) bad(file, "a symbolic link, which is not followed");
  if (error != 0) throw_errno(file, "cannot open", error, 0, disk);
  const auto about = open->facts();
  if (!about) throw_errno(file, "cannot stat", about.error, 0, disk);
  if (about.value.kind != FileKind::File) bad(file, "not a regular file");
  return std::move(open);
}

SealInfo read_seal(OpenFile& file, const fs::path& path) {
  std::vector<std::byte> block(kSealBytes);
  block.resize(read_up_to(file, block, 0, path));
  return parse_block(block, path);
}

}  // namespace

std::vector<std::byte> seal_block(const SealInfo& info) {
  std::vector<std::byte> block(kSealBytes);
  Header header;
  header.length = info.length;
  header.generation = info.generation;
  header.digest = info.digest;
  std::memcpy(block.data(), &header, sizeof header);
  const std::uint32_t crc = crc32c(std::span<const std::byte>(block).first(kCrcAt));
  std::memcpy(block.data() + kCrcAt, &crc, sizeof crc);
  return block;
}

void seal_image(std::span<std::byte> file, std::int64_t generation) {
  if (file.size() < kSealBytes) throw Error("seal_image: no space for a seal");
  const std::span<const std::byte> rest = file.subspan(kSealBytes);
  std::ranges::copy(seal_block({generation, rest.size(), sha256(rest)}), file.begin());
}

SealInfo measure_rest(OpenFile& file, const fs::path& path) {
  SealInfo out;
  Sha256Stream stream;
  std::vector<std::byte> piece(kPieceBytes);
  while (const std::size_t n = read_up_to(file, piece, kSealBytes + out.length, path)) {
    stream.update(std::span<const std::byte>(piece).first(n));
    out.length += n;
  }
  out.digest = stream.finish();
  return out;
}

SealInfo verify_sealed_file(const fs::path& file, const Fs& disk) {
  const auto open = open_regular(file, disk);
  const SealInfo seal = read_seal(*open, file);
  const SealInfo found = measure_rest(*open, file);
  if (found.length != seal.length) {
    bad(file, fmt::format("{} bytes behind the seal, {} expected: cut off or added to",
                          found.length, seal.length));
  }
  if (found.digest != seal.digest) {
    bad(file, fmt::format("SHA-256 is {}, the seal says {}: the file is damaged",
                          hex(found.digest, 16), hex(seal.digest, 16)));
  }
  return seal;
}

std::optional<SealInfo> peek_seal(const fs::path& file, const Fs& disk) {
  try {
    return read_seal(*open_regular(file, disk), file);
  } catch (const StorageError&) {
    return std::nullopt;
  }
}

std::size_t read_up_to(OpenFile& file, std::span<std::byte> bytes, std::uint64_t at,
                       const fs::path& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto [read, error] = file.read_at(bytes.subspan(done), at + done);
    if (error == EINTR) continue;
    if (error != 0) throw_errno(path, "cannot read", error);
    if (read == 0) break;
    done += read;
  }
  return done;
}

std::vector<std::byte> read_file(const fs::path& file, const Fs& disk) {
  const auto open = open_regular(file, disk);
  const auto about = open->facts();
  if (!about) throw_errno(file, "cannot stat", about.error, 0, disk);
  std::vector<std::byte> bytes(about.value.size);
  bytes.resize(read_up_to(*open, bytes, 0, file));
  return bytes;
}

std::string read_text_file(const fs::path& file, const Fs& disk) {
  const std::vector<std::byte> bytes = read_file(file, disk);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool file_equals(const fs::path& file, std::span<const std::byte> bytes, const Fs& disk) {
  const auto open = open_regular(file, disk);
  std::vector<std::byte> piece(kPieceBytes);
  std::size_t done = 0;
  while (const std::size_t n = read_up_to(*open, piece, done, file)) {
    if (n > bytes.size() - done || std::memcmp(piece.data(), bytes.data() + done, n) != 0) {
      return false;
    }
    done += n;
  }
  return done == bytes.size();
}

}  // namespace depthgrid
