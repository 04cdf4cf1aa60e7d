#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // of libcrypto

namespace depthgrid {

using Sha256 = std::array<std::uint8_t, 32>;

/// Incremental SHA-256 by libcrypto. Source: FIPS 180-4. @throws BackendError if libcrypto fails.
class Sha256Stream {
 public:
  Sha256Stream();

  void update(std::span<const std::byte> bytes);

  /// The digest; update() must not be called afterwards.
  Sha256 finish();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

Sha256 sha256(std::span<const std::byte> bytes);
Sha256 sha256(std::string_view text);

/// Reads the file in chunks. @throws StorageError if it cannot be read.
Sha256 sha256_file(const std::filesystem::path& file);

/// One digest for several files, from the hexadecimal digests of each: that of their list, one per
/// line. Of one file: its own.
std::string digest_of_all(std::span<const std::string> digests);

/// The first `digits` lower-case hexadecimal digits (64 = all).
std::string hex(const Sha256& digest, std::size_t digits = 64);

}  // namespace depthgrid
