#include "storage/files/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace depthgrid {
namespace {

static_assert(std::endian::native == std::endian::little, "files of the store are little-endian");

constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

/// tables[k][b]: effect of byte b on the CRC when k more bytes follow, so that eight bytes are
/// processed at once ("slicing by 8").
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1U) ^ (0x82F63B78U & (0U - (crc & 1U)));
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < kSlices; ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      const std::uint32_t before = tables[k - 1][b];
      tables[k][b] = (before >> 8U) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  std::size_t i = 0;
  for (; i + kSlices <= bytes.size(); i += kSlices) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, kSlices);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < kSlices; ++k) {
      crc ^= kTables[kSlices - 1 - k][(word >> (8 * k)) & 0xFFU];
    }
  }
  for (; i < bytes.size(); ++i) {
    crc = (crc >> 8U) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(bytes[i])) & 0xFFU];
  }
  return ~crc;
}

}  // namespace depthgrid
