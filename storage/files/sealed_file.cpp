#include "storage/files/sealed_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

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

Fd open_regular(const fs::path& file, std::uint64_t& size) {
  Fd fd(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd && errno == ENOENT) throw StorageError(file, "no such file", ExitCode::NoInput);
  if (!fd) throw_errno(file, "cannot open", errno);
  struct stat about{};
  if (fstat(fd.get(), &about) != 0) throw_errno(file, "cannot stat", errno);
  if (!S_ISREG(about.st_mode)) bad(file, "not a regular file");
  size = static_cast<std::uint64_t>(about.st_size);
  return fd;
}

/// Reads up to `bytes.size()` bytes; @return how many.
std::size_t read_up_to(int fd, std::span<std::byte> bytes, const fs::path& file) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = read(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(file, "cannot read", errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void compare(const SealInfo& seal, std::uint64_t length, const Sha256& digest,
             const fs::path& name) {
  if (length != seal.length) {
    bad(name, fmt::format("{} bytes behind the seal, {} expected: cut off or added to", length,
                          seal.length));
  }
  if (digest != seal.digest) {
    bad(name, fmt::format("SHA-256 is {}, the seal says {}: the file is damaged", hex(digest, 16),
                          hex(seal.digest, 16)));
  }
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

SealInfo seal_image(std::span<std::byte> file, std::int64_t generation) {
  if (file.size() < kSealBytes) throw Error("seal_image: no room for a seal");
  const std::span<const std::byte> rest = file.subspan(kSealBytes);
  const SealInfo info{generation, rest.size(), sha256(rest)};
  std::ranges::copy(seal_block(info), file.begin());
  return info;
}

SealInfo check_seal(std::span<const std::byte> file, const fs::path& name) {
  const SealInfo seal = parse_block(file.first(std::min(file.size(), kSealBytes)), name);
  const std::span<const std::byte> rest = file.subspan(kSealBytes);
  compare(seal, rest.size(), sha256(rest), name);
  return seal;
}

SealInfo verify_sealed_file(const fs::path& file) {
  std::uint64_t size = 0;
  const Fd fd = open_regular(file, size);
  std::vector<std::byte> piece(kSealBytes);
  piece.resize(read_up_to(fd.get(), piece, file));
  const SealInfo seal = parse_block(piece, file);
  Sha256Stream stream;
  std::uint64_t length = 0;
  piece.resize(kPieceBytes);
  while (const std::size_t n = read_up_to(fd.get(), piece, file)) {
    stream.update(std::span<const std::byte>(piece).first(n));
    length += n;
  }
  compare(seal, length, stream.finish(), file);
  return seal;
}

std::optional<SealInfo> peek_seal(const fs::path& file) {
  try {
    std::uint64_t size = 0;
    const Fd fd = open_regular(file, size);
    std::vector<std::byte> block(kSealBytes);
    block.resize(read_up_to(fd.get(), block, file));
    return parse_block(block, file);
  } catch (const StorageError&) {
    return std::nullopt;
  }
}

std::vector<std::byte> read_file(const fs::path& file) {
  std::uint64_t size = 0;
  const Fd fd = open_regular(file, size);
  std::vector<std::byte> bytes(size);
  bytes.resize(read_up_to(fd.get(), bytes, file));
  return bytes;
}

std::string read_text_file(const fs::path& file) {
  const std::vector<std::byte> bytes = read_file(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool file_equals(const fs::path& file, std::span<const std::byte> bytes) {
  std::uint64_t size = 0;
  const Fd fd = open_regular(file, size);
  std::vector<std::byte> piece(kPieceBytes);
  while (const std::size_t n = read_up_to(fd.get(), piece, file)) {
    if (n > bytes.size() || std::memcmp(piece.data(), bytes.data(), n) != 0) return false;
    bytes = bytes.subspan(n);
  }
  return bytes.empty();
}

}  // namespace depthgrid
