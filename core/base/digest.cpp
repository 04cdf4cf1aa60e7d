#include "core/base/digest.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include <openssl/evp.h>

#include "core/base/error.hpp"

namespace depthgrid {

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  if (EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
    throw BackendError("libcrypto", "EVP_DigestInit_ex", 0, "SHA-256 is not available");
  }
}

void Sha256Stream::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

Sha256 Sha256Stream::finish() {
  Sha256 out{};
  EVP_DigestFinal_ex(context_.get(), out.data(), nullptr);
  return out;
}

Sha256 sha256(std::span<const std::byte> bytes) {
  Sha256Stream stream;
  stream.update(bytes);
  return stream.finish();
}

Sha256 sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

Sha256 sha256_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw StorageError(file, std::strerror(errno), ExitCode::NoInput);
  Sha256Stream stream;
  std::vector<char> buffer(std::size_t{1} << 20U);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    stream.update(std::as_bytes(std::span(buffer.data(), static_cast<std::size_t>(in.gcount()))));
  }
  if (in.bad()) throw StorageError(file, "read error", ExitCode::NoInput);
  return stream.finish();
}

std::string digest_of_all(std::span<const std::string> digests) {
  if (digests.size() == 1) return digests.front();
  std::string list;
  for (const std::string& digest : digests) list += digest + "\n";
  return hex(sha256(list));
}

std::string hex(const Sha256& digest, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(64);
  for (const std::uint8_t byte : digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out.substr(0, digits);
}

}  // namespace depthgrid
