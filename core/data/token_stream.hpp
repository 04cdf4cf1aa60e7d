#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace depthgrid {

/// A sequence of token ids, two or four bytes each, in a mapped file or in memory. Cheap to copy.
class TokenStream {
 public:
  /// An empty stream: the split does not exist.
  TokenStream() = default;

  /// @param owner   keeps the memory alive.
  /// @param tokens  `size` ids of `width` bytes, little-endian.
  /// @param width   2 or 4.
  /// @param bytes   UTF-8 bytes of the text behind the ids; 0 = unknown.
  TokenStream(std::shared_ptr<const void> owner, const std::byte* tokens, std::int64_t size,
              int width, std::int64_t bytes);

  /// Owns a copy of `ids`: two bytes each if vocab_size <= 65536, else four.
  static TokenStream from_ids(std::span<const std::uint32_t> ids, std::int64_t vocab_size,
                              std::int64_t bytes);

  std::int64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  int width() const noexcept { return width_; }

  /// UTF-8 bytes of the text; 0 = unknown (synthetic), or the ids do not keep them
  /// (core/data/kept_text.hpp).
  std::int64_t bytes() const noexcept { return bytes_; }

  /// The same ids, of a text of so many bytes; 0 = unknown.
  TokenStream with_bytes(std::int64_t bytes) const;

  /// UTF-8 bytes per token, 0 = unknown. Bits per byte = nats per token / (this * ln 2).
  double bytes_per_token() const noexcept;

  std::uint32_t operator[](std::int64_t i) const noexcept;

  /// Copies ids [first, first + out.size()). @throws Error if any is out of range.
  void copy(std::int64_t first, std::span<std::int64_t> out) const;

  /// Ids [begin, end); their bytes() are unknown, unless these are all ids or all have one byte.
  /// @throws Error if any is out of range.
  TokenStream slice(std::int64_t begin, std::int64_t end) const;

  /// Whether any of the ids is this one.
  bool holds(std::uint32_t id) const noexcept;

  /// Greatest id, -1 for an empty stream.
  std::int64_t max_id() const noexcept;

  /// SHA-256 of the ids as stored, 64 hexadecimal digits.
  std::string sha256() const;

  /// The ids as stored.
  std::span<const std::byte> raw() const noexcept;

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* tokens_ = nullptr;
  std::int64_t size_ = 0;
  int width_ = 2;
  std::int64_t bytes_ = 0;
};

}  // namespace depthgrid
