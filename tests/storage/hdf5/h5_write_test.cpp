#include "storage/hdf5/h5_write.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/hdf5/h5_read.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

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

TEST(H5Write, ASealedFileOpensInH5dumpWithItsTypesScalesAndAttributes) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a.h5";
  H5Builder builder(folder.path());
  builder.attribute("", "format", "depthgrid-sweep");
  builder.dimension("cell", Texts{"0123456789ab", "cafe00000000"}, 16);
  builder.dimension("step", H5Kind::I8, Integers{1, 2, 3});
  builder.dataset("train_loss", {"cell", "step"}, H5Kind::F4, Numbers{1, 2, 3, 4, 5, NAN});
  builder.attribute("train_loss", "units", "nat");
  builder.dataset("cell_status", {"cell"}, H5Kind::I1, Integers{2, 3});
  ASSERT_TRUE(builder.publish_once(file, 1));

  const Output head = h5dump("-H " + file.string());
  const Output data = h5dump("-d train_loss " + file.string());

  EXPECT_EQ(head.code, 0) << head.text;
  for (const char* expected : {"H5T_IEEE_F32LE", "H5T_STD_I8LE", "H5T_STD_I64LE", "STRSIZE 16",
                               "H5T_CSET_UTF8", "H5T_STR_NULLPAD", "DIMENSION_LIST", "_Encoding",
                               "_FillValue", "SIMPLE { ( 2, 3 ) / ( 2, 3 ) }"}) {
    EXPECT_NE(head.text.find(expected), std::string::npos) << expected << "\n" << head.text;
  }
  EXPECT_EQ(data.code, 0);
  EXPECT_NE(data.text.find("(0,0): 1, 2, 3"), std::string::npos) << data.text;
  EXPECT_NE(data.text.find("(1,0): 4, 5, nan"), std::string::npos) << data.text;
}

TEST(H5Write, LargeDatasetsAreChunkedAndFilteredSmallOnesAreNot) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a.h5";
  Integers many(20000);
  std::iota(many.begin(), many.end(), 0);
  H5Builder builder(folder.path());
  builder.dimension("step", H5Kind::I8, many);
  builder.dimension("cell", H5Kind::I4, Integers{1});
  builder.declare("big", {"step"}, H5Kind::F4);
  builder.dataset("small", {"cell"}, H5Kind::F8, Numbers{1});
  builder.publish_replace(file, 1);

  const Output big = h5dump("-p -H -d big " + file.string());
  const Output small = h5dump("-p -H -d small " + file.string());

  for (const char* filter :
       {"CHUNKED", "PREPROCESSING SHUFFLE", "DEFLATE { LEVEL 4 }", "FLETCHER32"}) {
    EXPECT_NE(big.text.find(filter), std::string::npos) << filter << big.text;
  }
  EXPECT_NE(small.text.find("CONTIGUOUS"), std::string::npos) << small.text;
}

TEST(H5Write, ReadsBackEveryTypeExactly) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a.h5";
  const double tiny = static_cast<double>(std::nextafterf(1.0F, 2.0F));
  H5Builder builder(folder.path());
  builder.dimension("x", H5Kind::F8, Numbers{0.1, 0.2});
  builder.dimension("empty", H5Kind::I8, Integers{});
  builder.dataset("f4", {"x"}, H5Kind::F4, Numbers{tiny, NAN});
  builder.dataset("f8", {"x"}, H5Kind::F8, Numbers{0.1, -INFINITY});
  builder.dataset("i1", {"x"}, H5Kind::I1, Integers{-128, 127});
  builder.dataset("i4", {"x"}, H5Kind::I4, Numbers{7, NAN});
  builder.dataset("i8", {"x"}, H5Kind::I8, Integers{(std::int64_t{1} << 62) + 1, -1});
  builder.bytes("u1", {"x"}, std::vector<std::uint8_t>{0, 255});
  builder.strings("text", {"x"}, Texts{"Δt = 1/L", ""});
  builder.dataset("scalar", {}, H5Kind::F8, Numbers{42});
  builder.dataset("none", {"empty"}, H5Kind::F4, Numbers{});
  builder.publish_replace(file, 5);

  const H5Reader reader(file);

  EXPECT_EQ(reader.seal().generation, 5);
  EXPECT_EQ(reader.numbers("x"), (Numbers{0.1, 0.2}));
  EXPECT_EQ(reader.numbers("f4")[0], tiny);
  EXPECT_TRUE(std::isnan(reader.numbers("f4")[1]));
  EXPECT_EQ(reader.numbers("f8"), (Numbers{0.1, -INFINITY}));
  EXPECT_EQ(reader.integers("i1"), (Integers{-128, 127}));
  EXPECT_EQ(reader.integers("i4"), (Integers{7, -1}));
  EXPECT_EQ(reader.integers("i8"), (Integers{(std::int64_t{1} << 62) + 1, -1}));
  EXPECT_EQ(reader.integers("u1"), (Integers{0, 255}));
  EXPECT_EQ(reader.texts("text"), (Texts{"Δt = 1/L", ""}));
  EXPECT_EQ(reader.numbers("scalar"), Numbers{42});
  EXPECT_TRUE(reader.numbers("none").empty());
  EXPECT_EQ(reader.info("text").text_width, 16U);
}

TEST(H5Write, BlocksFillADeclaredDatasetAndTheRestIsAbsent) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a.h5";
  H5Builder builder(folder.path());
  builder.dimension("cell", H5Kind::I4, Integers{0, 1, 2});
  builder.dimension("step", H5Kind::I4, Integers{1, 2});
  builder.declare("loss", {"cell", "step"}, H5Kind::F4);
  builder.declare("count", {"cell"}, H5Kind::I8);
  builder.declare_strings("name", {"cell"}, 8);
  builder.write_block("loss", Integers{1, 0}, Integers{1, 2}, Numbers{10, 20});
  builder.write_block("count", Integers{2}, Integers{1}, Integers{9});
  builder.write_block("name", Integers{0}, Integers{1}, Texts{"first"});
  builder.publish_replace(file, 1);

  const H5Reader reader(file);
  const Numbers loss = reader.numbers("loss");

  EXPECT_TRUE(std::isnan(loss[0]));
  EXPECT_EQ(loss[2], 10);
  EXPECT_EQ(loss[3], 20);
  EXPECT_TRUE(std::isnan(loss[5]));
  EXPECT_EQ(reader.integers("count"), (Integers{-1, -1, 9}));
  EXPECT_EQ(reader.texts("name"), (Texts{"first", "", ""}));
}

TEST(H5Write, AttributesMayBeLongerThan64KiBAndAsManyAsWanted) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a.h5";
  const std::string yaml(300000, 'y');
  H5Builder builder(folder.path());
  builder.attribute("", "sweep_yaml", yaml);
  builder.attribute("", "empty", "");
  for (int i = 0; i < 40; ++i) builder.attribute("", "n" + std::to_string(i), std::int64_t{i});
  builder.attribute("", "list", Texts{"a", "bc"});
  builder.attribute("", "edges", std::span<const double>(Numbers{0, 0.5, 1}));
  builder.publish_replace(file, 1);

  const H5Reader reader(file);

  EXPECT_EQ(reader.text_attribute("", "sweep_yaml"), yaml);
  EXPECT_EQ(reader.text_attribute("", "empty"), "");
  EXPECT_EQ(reader.integer_attribute("", "n39"), 39);
  EXPECT_EQ(reader.texts_attribute("", "list"), (Texts{"a", "bc"}));
  EXPECT_EQ(reader.numbers_attribute("", "edges"), (Numbers{0, 0.5, 1}));
  EXPECT_EQ(reader.attribute_names("").size(), 44U);
}

TEST(H5Write, HundredsOfVariablesMayHangOnOneDimension) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a.h5";
  H5Builder builder(folder.path());
  builder.dimension("cell", H5Kind::I4, Integers{0});
  for (int i = 0; i < 400; ++i) {
    builder.dataset("v" + std::to_string(i), {"cell"}, H5Kind::F8, Numbers{1.0 * i});
  }
  builder.publish_replace(file, 1);

  const H5Reader reader(file);

  ASSERT_EQ(reader.variables().size(), 401U);
  EXPECT_EQ(reader.variables()[400].name, "v399");
  EXPECT_EQ(reader.variables()[400].dims, Texts{"cell"});
  EXPECT_EQ(h5dump("-H " + file.string()).code, 0);
}

TEST(H5Write, TheSameContentGivesTheSameBytes) {
  TemporaryFolder folder;
  const auto image = [&] {
    H5Builder builder(folder.path());
    builder.attribute("", "format", "x");
    builder.dimension("cell", H5Kind::I4, Integers{0, 1});
    builder.dataset("v", {"cell"}, H5Kind::F4, Numbers{1, 2});
    return builder.finish_sealed(1);
  };

  EXPECT_EQ(image(), image());
}

TEST(H5Write, AFileTooLargeForMemoryIsBuiltAndSealedBesideItsTarget) {
  TemporaryFolder folder;
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40U;  // an estimate only
  H5Builder builder(folder.path(), kHuge);
  builder.dimension("cell", H5Kind::I4, Integers{0, 1});
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  ASSERT_TRUE(builder.publish_once(folder.path() / "a.h5", 4));

  const H5Reader reader(folder.path() / "a.h5");

  EXPECT_EQ(reader.integers("cell"), (Integers{0, 1}));
  EXPECT_EQ(reader.seal().generation, 4);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(H5Write, AnAbandonedBuilderLeavesNothing) {
  TemporaryFolder folder;
  {
    H5Builder builder(folder.path(), std::uint64_t{1} << 40U);
    builder.attribute("", "x", 1.0);
  }

  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(H5Write, RefusesWrongCountsUnknownDimensionsAndValuesThatDoNotFit) {
  TemporaryFolder folder;
  H5Builder builder(folder.path());
  builder.dimension("cell", H5Kind::I4, Integers{0, 1});

  EXPECT_THROW(builder.dataset("a", {"cell"}, H5Kind::F4, Numbers{1}), Error);
  EXPECT_THROW(builder.dataset("b", {"step"}, H5Kind::F4, Numbers{1}), Error);
  EXPECT_THROW(builder.dataset("c", {"cell"}, H5Kind::I1, Integers{1, 128}), Error);
  EXPECT_THROW(builder.write_block("nowhere", Integers{0}, Integers{1}, Numbers{1}), Error);
}

}  // namespace
}  // namespace depthgrid
