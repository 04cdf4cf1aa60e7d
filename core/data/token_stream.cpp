#include "core/data/token_stream.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// Calls `use` with a pointer to the ids as they are stored.
template <class Use>
auto with_ids(const std::byte* tokens, int width, const Use& use) {
  // ids in a file are aligned to 8 bytes
  return width == 2 ? use(reinterpret_cast<const std::uint16_t*>(tokens))
                    : use(reinterpret_cast<const std::uint32_t*>(tokens));
}

template <class Id>
TokenStream stored_as(std::span<const std::uint32_t> ids, std::int64_t bytes) {
  const auto kept = std::make_shared<std::vector<Id>>(ids.begin(), ids.end());
  const auto* const first = reinterpret_cast<const std::byte*>(kept->data());
  return {kept, first, static_cast<std::int64_t>(ids.size()), sizeof(Id), bytes};
}

}  // namespace

TokenStream::TokenStream(std::shared_ptr<const void> owner, const std::byte* tokens,
                         std::int64_t size, int width, std::int64_t bytes)
    : owner_(std::move(owner)), tokens_(tokens), size_(size), width_(width), bytes_(bytes) {
  if (width != 2 && width != 4) throw Error("token ids have two or four bytes");
}

TokenStream TokenStream::from_ids(std::span<const std::uint32_t> ids, std::int64_t vocab_size,
                                  std::int64_t bytes) {
  return vocab_size <= 65536 ? stored_as<std::uint16_t>(ids, bytes)
                             : stored_as<std::uint32_t>(ids, bytes);
}

double TokenStream::bytes_per_token() const noexcept {
  return size_ == 0 ? 0.0 : static_cast<double>(bytes_) / static_cast<double>(size_);
}

std::uint32_t TokenStream::operator[](std::int64_t i) const noexcept {
  return with_ids(tokens_, width_, [i](const auto* ids) -> std::uint32_t { return ids[i]; });
}

void TokenStream::copy(std::int64_t first, std::span<std::int64_t> out) const {
  const auto n = static_cast<std::int64_t>(out.size());
  if (first < 0 || n > size_ - first) {
    throw Error("tokens [" + std::to_string(first) + ", " + std::to_string(first + n) +
                ") are not inside a stream of " + std::to_string(size_));
  }
  with_ids(tokens_, width_,
           [&](const auto* ids) { std::copy_n(ids + first, out.size(), out.begin()); });
}

TokenStream TokenStream::slice(std::int64_t begin, std::int64_t end) const {
  if (begin < 0 || begin > end || end > size_) throw Error("slice of tokens out of range");
  TokenStream part = *this;
  part.tokens_ = tokens_ + begin * width_;
  part.size_ = end - begin;
  // One byte each: so is every part. Otherwise nobody knows which tokens are the long ones.
  if (part.size_ != size_) part.bytes_ = bytes_ == size_ ? part.size_ : 0;
  return part;
}

TokenStream TokenStream::with_bytes(std::int64_t bytes) const {
  TokenStream same = *this;
  same.bytes_ = bytes;
  return same;
}

bool TokenStream::holds(std::uint32_t id) const noexcept {
  if (width_ == 2 && id > 0xFFFF) return false;
  return with_ids(tokens_, width_,
                  [&](const auto* ids) { return std::find(ids, ids + size_, id) != ids + size_; });
}

std::int64_t TokenStream::max_id() const noexcept {
  if (size_ == 0) return -1;
  return with_ids(tokens_, width_, [&](const auto* ids) -> std::int64_t {
    return *std::max_element(ids, ids + size_);
  });
}

std::string TokenStream::sha256() const {
  return hex(depthgrid::sha256(raw()));
}

std::span<const std::byte> TokenStream::raw() const noexcept {
  return {tokens_, static_cast<std::size_t>(size_ * width_)};
}

}  // namespace depthgrid
