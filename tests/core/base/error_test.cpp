#include "core/base/error.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace error_test {

TEST(Error, KeepsItsPlaceOutOfTheMessage) {
  const int line = __LINE__ + 1;
  const Error e("no such thing");
  EXPECT_STREQ(e.what(), "no such thing");
  EXPECT_TRUE(e.where().ends_with("error_test.cpp:" + std::to_string(line))) << e.where();
}

TEST(Error, OfAUserHasItsExitCode) {
  EXPECT_EQ(UserError(ExitCode::Usage, "x").code(), ExitCode::Usage);
}

TEST(Error, OfAStoreNamesTheFileAndMeansAFailedWriteUnlessItSaysOtherwise) {
  const StorageError e("a/b", "damaged");
  EXPECT_STREQ(e.what(), "a/b: damaged");
  EXPECT_EQ(e.code(), ExitCode::CantCreate);
  EXPECT_EQ(StorageError("a", "b", ExitCode::BadData).code(), ExitCode::BadData);
}

TEST(Error, OfALibraryNamesTheCallAndItsCode) {
  const BackendError e("HDF5", "H5Fopen", -1, "no file");
  EXPECT_STREQ(e.what(), "HDF5: H5Fopen failed (-1): no file");
}

// docs/cli.md: scripts rely on these numbers.
TEST(ExitCode, HasTheNumbersOfTheContract) {
  EXPECT_EQ(static_cast<int>(ExitCode::Done), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::Failed), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::Usage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::Unfinished), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::Partial), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::BadData), 65);
  EXPECT_EQ(static_cast<int>(ExitCode::NoInput), 66);
  EXPECT_EQ(static_cast<int>(ExitCode::CantCreate), 73);
  EXPECT_EQ(static_cast<int>(ExitCode::TempFail), 75);
  EXPECT_EQ(static_cast<int>(ExitCode::OutOfMemory), 77);
  EXPECT_EQ(static_cast<int>(ExitCode::BadConfig), 78);
}

}  // namespace error_test
}  // namespace depthgrid
