#include "storage/files/sealed_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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

Fd open_regular(const fs::path& file) {
  Fd fd(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd && errno == ENOENT) throw StorageError(file, "no such file", ExitCode::NoInput);
  if (!fd && errno == ELOOP) bad(file, "a symbolic link, which is not followed");
  if (!fd) throw_errno(file, "cannot open", errno);
  struct stat about{};
  if (fstat(fd.get(), &about) != 0) throw_errno(file, "cannot stat", errno);
  if (!S_ISREG(about.st_mode)) bad(file, "not a regular file");
  return fd;
}

SealInfo read_seal(int fd, const fs::path& file) {
  std::vector<std::byte> block(kSealBytes);
  block.resize(read_up_to(fd, block, 0, file));
  return parse_block(block, file);
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
  if (file.size() < kSealBytes) throw Error("seal_image: no room for a seal");
  const std::span<const std::byte> rest = file.subspan(kSealBytes);
  std::ranges::copy(seal_block({generation, rest.size(), sha256(rest)}), file.begin());
}

SealInfo measure_rest(int fd, const fs::path& file) {
  SealInfo out;
  Sha256Stream stream;
  std::vector<std::byte> piece(kPieceBytes);
  while (const std::size_t n = read_up_to(fd, piece, kSealBytes + out.length, file)) {
    stream.update(std::span<const std::byte>(piece).first(n));
    out.length += n;
  }
  out.digest = stream.finish();
  return out;
}

SealInfo verify_sealed_file(const fs::path& file) {
  const Fd fd = open_regular(file);
  const SealInfo seal = read_seal(fd.get(), file);
  const SealInfo found = measure_rest(fd.get(), file);
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

std::optional<SealInfo> peek_seal(const fs::path& file) {
  try {
    return read_seal(open_regular(file).get(), file);
  } catch (const StorageError&) {
    return std::nullopt;
  }
}

std::size_t read_up_to(int fd, std::span<std::byte> bytes, std::uint64_t at, const fs::path& file) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(file, "cannot read", errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::vector<std::byte> read_file(const fs::path& file) {
  const Fd fd = open_regular(file);
  struct stat about{};
  if (fstat(fd.get(), &about) != 0) throw_errno(file, "cannot stat", errno);
  std::vector<std::byte> bytes(static_cast<std::size_t>(about.st_size));
  bytes.resize(read_up_to(fd.get(), bytes, 0, file));
  return bytes;
}

std::string read_text_file(const fs::path& file) {
  const std::vector<std::byte> bytes = read_file(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool file_equals(const fs::path& file, std::span<const std::byte> bytes) {
  const Fd fd = open_regular(file);
  std::vector<std::byte> piece(kPieceBytes);
  std::size_t done = 0;
  while (const std::size_t n = read_up_to(fd.get(), piece, done, file)) {
    if (n > bytes.size() - done || std::memcmp(piece.data(), bytes.data() + done, n) != 0) {
      return false;
    }
    done += n;
  }
  return done == bytes.size();
}

}  // namespace depthgrid
