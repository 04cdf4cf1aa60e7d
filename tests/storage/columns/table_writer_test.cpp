#include "storage/columns/table_writer.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace table_writer_test {

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

struct Output {
  int code = 0;
  std::string text;
};

/// The trusted reader: HDF5's own tool, not ours.
Output h5dump(const std::string& arguments) {
  FILE* pipe = popen(("h5dump " + arguments + " 2>&1").c_str(), "r");
  Output out;
  std::array<char, 4096> piece{};
  while (const std::size_t n = fread(piece.data(), 1, piece.size(), pipe)) {
    out.text.append(piece.data(), n);
  }
  out.code = pclose(pipe);
  return out;
}

TEST(TableWriter, ASealedFileOpensInH5dumpWithItsTypesScalesAndAttributes) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.h5";
  ColumnTable table = small_table();
  table.columns.push_back(
      number_column("cell_status", {"cell"}, DataType::Int8, std::vector<double>{2, std::nan("")}));
  for (int i = 0; i < 300; ++i) {  // the scale of an axis must bear as many references
    table.columns.push_back(number_column("param_" + std::to_string(i), {"cell"}, DataType::Float32,
                                          std::vector<double>{1.0 * i, 0}));
    table.attributes.emplace_back("n" + std::to_string(i), std::int64_t{i});
  }
  write(file, table);

  const Output head = h5dump("-H " + file.string());
  const Output data = h5dump("-d depth_time " + file.string());
  const Output status = h5dump("-d cell_status " + file.string());

  EXPECT_EQ(head.code, 0) << head.text;
  for (const char* expected :
       {"H5T_IEEE_F32LE", "H5T_STD_I8LE", "H5T_STD_I64LE", "H5T_VARIABLE", "H5T_CSET_UTF8",
        "H5T_STR_NULLPAD", "DIMENSION_LIST", "_FillValue", "SIMPLE { ( 2, 3 ) / ( 2, 3 ) }"}) {
    EXPECT_NE(head.text.find(expected), std::string::npos) << expected;
  }
  EXPECT_NE(data.text.find("(0,0): 1, 2, 3"), std::string::npos) << data.text;
  EXPECT_NE(status.text.find("(0): 2, -1"), std::string::npos) << status.text;
  EXPECT_EQ(head.text.find("_Encoding"), std::string::npos) << "texts say so by their type";
}

TEST(TableWriter, LargeColumnsAreChunkedAndFilteredSmallOnesAreNot) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "t.h5";
  ColumnTable table = small_table();
  table.sizes["step"] = 20000;
  table.columns.push_back(number_column("train_loss", {"cell", "step"}, DataType::Float32,
                                        std::vector<double>(40000, 0.5)));
  write(file, table);

  const Output large = h5dump("-p -H -d train_loss " + file.string());
  const Output small = h5dump("-p -H -d depth_time " + file.string());

  for (const char* filter :
       {"CHUNKED", "PREPROCESSING SHUFFLE", "DEFLATE { LEVEL 4 }", "FLETCHER32"}) {
    EXPECT_NE(large.text.find(filter), std::string::npos) << filter << large.text;
  }
  EXPECT_NE(small.text.find("CONTIGUOUS"), std::string::npos) << small.text;
}

TEST(TableWriter, TheSameContentGivesTheSameBytes) {
  const TemporaryFolder folder;
  write(folder.path() / "a.h5", small_table());
  write(folder.path() / "b.h5", small_table());

  EXPECT_EQ(read_file(folder.path() / "a.h5"), read_file(folder.path() / "b.h5"));
}

TEST(TableWriter, ASealAroundSomethingElseIsBadData) {
  const TemporaryFolder folder;
  std::vector<std::byte> image(2000, std::byte{65});
  seal_image(image, 1);
  publish_replace(folder.path() / "t.h5", image);

  try {
    const TableReader reader(folder.path() / "t.h5");
    FAIL() << "read a file that is not HDF5";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
    EXPECT_NE(std::string(e.what()).find("H5Fopen"), std::string::npos) << e.what();
  }
}

TEST(TableWriter, WhatIsWrittenReadsBack) {
  const TemporaryFolder folder;
  write(folder.path() / "t.h5", small_table());

  const TableReader reader(folder.path() / "t.h5");

  EXPECT_EQ(peek_seal(folder.path() / "t.h5")->generation, 3);
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
  EXPECT_EQ(peek_seal(folder.path() / "t.h5")->generation, 1);
}

TEST(TableWriter, ColumnThatDoesNotFitItsAxesIsABug) {
  const TemporaryFolder folder;
  ColumnTable table = small_table();
  table.columns[1].bytes.resize(8);
  TableWriter writer(folder.path() / "t.h5", 0);

  EXPECT_THROW(write_table(writer, table), Error);
}

TEST(Hdf5, TellsTheVersionOfTheLibrary) {
  EXPECT_TRUE(hdf5_version().starts_with("1.")) << hdf5_version();
}

TEST(TableWriter, ChunksHoldHalfAMebibyteAtMost) {
  EXPECT_EQ(chunk_rows(4000, 10000), 128);
  EXPECT_EQ(chunk_rows(68000, 10000), 4);
  EXPECT_EQ(chunk_rows(4000, 50), 50);
  EXPECT_EQ(chunk_rows(std::size_t{2} << 20, 10000), 1);
}

}  // namespace table_writer_test
}  // namespace depthgrid
