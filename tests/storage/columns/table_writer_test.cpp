#include "storage/columns/table_writer.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/columns/table_reader.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace {

ColumnTable small_table() {
  ColumnTable out;
  out.sizes = {{"cell", 2}, {"depth", 3}};
  out.columns.push_back(text_column("cell", {"cell"}, std::vector<std::string>{"a", "bb"}));
  describe(out.columns.back());
  out.columns.push_back(number_column("depth_time", {"cell", "depth"}, DataType::Float64,
                                      std::vector<double>{1, 2, 3, 4, 5, 6}));
  describe(out.columns.back());
  out.attributes = {{"format", std::string("depthgrid-test")},
                    {"sweep_yaml", std::string(100000, 'x')},
                    {"n", std::int64_t{7}}};
  return out;
}

void write(const std::filesystem::path& file, const ColumnTable& table) {
  TableWriter writer(file, table_bytes(table));
  write_table(writer, table);
  writer.replace(3);
}

TEST(TableWriter, WhatIsWrittenReadsBack) {
  const TemporaryFolder folder;
  write(folder.path() / "t.h5", small_table());

  const TableReader reader(folder.path() / "t.h5");

  EXPECT_EQ(reader.seal().generation, 3);
  EXPECT_EQ(reader.read("cell").text(1), "bb");
  EXPECT_EQ(reader.read("depth").integer(2), 3);
  EXPECT_EQ(reader.read("depth_time").number(5), 6);
  EXPECT_EQ(reader.text_attribute("sweep_yaml")->size(), 100000U);
  EXPECT_EQ(reader.integer_attribute("n"), 7);
  EXPECT_EQ(reader.integer_attribute("absent"), std::nullopt);
}

TEST(TableWriter, ADamagedByteIsNoticedBeforeHdf5SeesIt) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.h5";
  write(file, small_table());
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(2000);
  stream.put('!');
  stream.close();

  EXPECT_THROW(TableReader reader(file), StorageError);
}

TEST(TableWriter, NothingIsLeftOfAnAbandonedBuild) {
  const TemporaryFolder folder;
  {
    TableWriter writer(folder.path() / "t.h5", std::uint64_t{1} << 40);  // built beside the target
    write_table(writer, small_table());
  }

  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TableWriter, LargeFilesAreSealedInPlace) {
  const TemporaryFolder folder;
  const ColumnTable table = small_table();
  TableWriter writer(folder.path() / "t.h5", std::uint64_t{1} << 40);
  write_table(writer, table);
  writer.replace(1);

  EXPECT_EQ(TableReader(folder.path() / "t.h5").read("depth_time").number(0), 1);
}

TEST(TableWriter, PublishingOnceKeepsTheFirst) {
  const TemporaryFolder folder;
  const ColumnTable table = small_table();
  TableWriter first(folder.path() / "t.h5", 0);
  write_table(first, table);
  TableWriter second(folder.path() / "t.h5", 0);
  write_table(second, table);

  EXPECT_TRUE(first.publish_once(1));
  EXPECT_FALSE(second.publish_once(2));
  EXPECT_EQ(TableReader(folder.path() / "t.h5").seal().generation, 1);
}

TEST(TableWriter, ColumnThatDoesNotFitItsAxesIsABug) {
  const TemporaryFolder folder;
  ColumnTable table = small_table();
  table.columns[1].bytes.resize(8);
  TableWriter writer(folder.path() / "t.h5", 0);

  EXPECT_THROW(write_table(writer, table), Error);
}

TEST(TableWriter, ChunksHoldHalfAMebibyteAtMost) {
  EXPECT_EQ(chunk_rows(4000, 10000), 128);
  EXPECT_EQ(chunk_rows(68000, 10000), 4);
  EXPECT_EQ(chunk_rows(4000, 50), 50);
  EXPECT_EQ(chunk_rows(std::size_t{2} << 20, 10000), 1);
}

}  // namespace
}  // namespace depthgrid
