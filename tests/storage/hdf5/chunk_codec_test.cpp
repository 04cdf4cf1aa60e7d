#include "storage/hdf5/chunk_codec.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "storage/columns/table_reader.hpp"
#include "storage/columns/table_writer.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace chunk_codec_test {

VariableColumn cells(std::size_t count) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back("cell" + std::to_string(i));
  VariableColumn out = text_column("cell", {"cell"}, ids);
  describe(out);
  return out;
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = 0.001 * static_cast<double>((i * 7919) % 100003);
  return out;
}

TEST(ChunkCodec, ChunksReadBackThroughTheFiltersOfHdf5) {
  const TemporaryFolder folder;
  constexpr std::size_t kCells = 6;
  constexpr std::size_t kSteps = 5001;  // odd, so that the checksum has a tail
  const VariableColumn all =
      number_column("train_loss", {"cell", "step"}, DataType::Float32, numbers(kCells * kSteps));
  TableWriter writer(folder.path() / "a.h5", 0);
  writer.axis(cells(kCells));
  writer.axis(coordinate(dimension("step"), kSteps));
  const std::size_t column =
      writer.declare(number_column("train_loss", {"cell", "step"}, DataType::Float32, {}), 2);
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(kCells); row += 2) {
    const auto bytes =
        std::span(all.bytes).subspan(static_cast<std::size_t>(row) * kSteps * 4, 2 * kSteps * 4);
    writer.write_chunk(column, row, encode_chunk(bytes, 4));
  }
  writer.replace(0);

  const VariableColumn back = TableReader(folder.path() / "a.h5").read("train_loss");

  EXPECT_EQ(back.bytes, all.bytes);
}

TEST(ChunkCodec, EncoderGivesChunksBackInOrder) {
  ChunkEncoder encoder(3);
  for (std::int64_t i = 0; i < 20; ++i) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(8000 * ((i * 7) % 5 + 1)), std::byte{1});
    encoder.submit({.column = 1, .first_row = i, .item_bytes = 8, .bytes = bytes});
  }

  std::vector<std::int64_t> order;
  while (const auto chunk = encoder.take(true)) {
    order.push_back(chunk->first_row);
    EXPECT_LT(chunk->bytes.size(), 8000U);
  }

  ASSERT_EQ(order.size(), 20U);
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace chunk_codec_test
}  // namespace depthgrid
