#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace depthgrid {

/// CRC-32C (Castagnoli). Source: RFC 3720, appendix B.4. crc32c("123456789") = 0xE3069283.
/// @param before  CRC of the preceding bytes, to continue from; 0 at the beginning.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

}  // namespace depthgrid
