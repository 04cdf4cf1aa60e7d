#include "storage/hdf5/h5_read.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

class H5ReadTest : public testing::Test {
 protected:
  H5ReadTest() {
    H5Builder builder(folder_.path());
    builder.attribute("", "format", "test");
    builder.attribute("", "version", std::int64_t{2});
    builder.dimension("cell", Texts{"a", "b"});
    builder.dimension("step", H5Kind::I8, Integers{1, 2, 3});
    builder.dataset("zeta", {"cell", "step"}, H5Kind::F4, Numbers{1, 2, 3, 4, 5, 6});
    builder.dataset("alpha", {}, H5Kind::I4, Integers{5});
    builder.attribute("zeta", "units", "nat");
    builder.group("weights");
    builder.tensor("weights/head.weight", Integers{2, 1}, std::vector<float>{0.5F, 0.25F});
    builder.publish_replace(file_, 9);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "a.h5";
};

TEST_F(H5ReadTest, ListsVariablesInOrderOfCreationWithTheirDimensions) {
  const H5Reader reader(file_);
  const auto& all = reader.variables();

  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].name, "cell");
  EXPECT_TRUE(all[0].is_dimension);
  EXPECT_TRUE(all[0].is_text);
  EXPECT_EQ(all[2].name, "zeta");
  EXPECT_EQ(all[2].dims, (Texts{"cell", "step"}));
  EXPECT_EQ(all[2].shape, (Integers{2, 3}));
  EXPECT_EQ(all[2].kind, H5Kind::F4);
  EXPECT_EQ(all[2].count(), 6);
  EXPECT_EQ(all[3].kind, H5Kind::I4);
  EXPECT_TRUE(all[3].shape.empty());
}

TEST_F(H5ReadTest, ReadsGroupsAndAttributes) {
  const H5Reader reader(file_);

  ASSERT_EQ(reader.variables_of("weights").size(), 1U);
  EXPECT_EQ(reader.variables_of("weights")[0].name, "weights/head.weight");
  EXPECT_EQ(reader.floats("weights/head.weight"), (std::vector<float>{0.5F, 0.25F}));
  EXPECT_TRUE(reader.variables_of("absent").empty());
  EXPECT_EQ(reader.text_attribute("zeta", "units"), "nat");
  EXPECT_EQ(reader.text_attribute("zeta", "absent"), std::nullopt);
  EXPECT_EQ(reader.text_attribute("absent", "units"), std::nullopt);
  EXPECT_EQ(reader.required_text("format"), "test");
  EXPECT_EQ(reader.required_integer("version"), 2);
  EXPECT_EQ(reader.number_attribute("", "version"), 2.0);
  EXPECT_TRUE(reader.attribute_is_text("", "format"));
  EXPECT_FALSE(reader.attribute_is_text("", "version"));
  EXPECT_TRUE(reader.has("zeta"));
  EXPECT_FALSE(reader.has("weights/absent"));
  EXPECT_FALSE(reader.has("absent/absent"));
}

TEST_F(H5ReadTest, WhatIsNotThereIsNamed) {
  const H5Reader reader(file_);

  EXPECT_THROW(reader.numbers("absent"), StorageError);
  EXPECT_THROW(reader.numbers("cell"), StorageError);
  EXPECT_THROW(reader.texts("zeta"), StorageError);
  EXPECT_THROW(reader.required_text("absent"), StorageError);
  EXPECT_THROW(reader.text_attribute("", "version"), StorageError);
}

TEST_F(H5ReadTest, DamageIsFoundBeforeHdf5SeesTheFile) {
  auto image = read_file(file_);
  image[kSealBytes + 100] ^= std::byte{4};
  publish_replace(file_, image);

  try {
    const H5Reader reader(file_);
    FAIL() << "damage went unnoticed";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
  }
}

TEST_F(H5ReadTest, ASealAroundSomethingElseIsBadDataToo) {
  std::vector<std::byte> image(2000, std::byte{65});
  seal_image(image, 1);
  publish_replace(file_, image);

  try {
    const H5Reader reader(file_);
    FAIL() << "read a file that is not HDF5";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
    EXPECT_NE(std::string(e.what()).find("H5Fopen"), std::string::npos) << e.what();
  }
}

TEST(H5Read, TellsTheVersionOfTheLibrary) {
  EXPECT_TRUE(hdf5_version().starts_with("1.")) << hdf5_version();
}

}  // namespace
}  // namespace depthgrid
