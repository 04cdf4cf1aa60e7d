#include "storage/files/crc32c.hpp"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace crc32c_test {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Crc32c, GivesTheCheckValueAndThoseOfTheRfc) {
  const std::vector<std::byte> zeros(32, std::byte{0});
  const std::vector<std::byte> ones(32, std::byte{0xFF});

  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c(zeros), 0x8A9136AAU);
  EXPECT_EQ(crc32c(ones), 0x62A8AB43U);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32c, OfPiecesEqualsThatOfTheWholeAtEverySplit) {
  const std::string_view text = "A journal frame is its length, its CRC and its payload.";

  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::uint32_t head = crc32c(bytes_of(text.substr(0, cut)));
    EXPECT_EQ(crc32c(bytes_of(text.substr(cut)), head), crc32c(bytes_of(text))) << cut;
  }
}

}  // namespace crc32c_test
}  // namespace depthgrid
