#include "storage/files/set_aside.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace set_aside_test {

TEST(SetAside, MovesAnythingUnderAFreshNameThatSaysSo) {
  TemporaryFolder folder;
  const auto file = folder.path() / "result.h5";
  std::filesystem::create_directory(file);
  EXPECT_EQ(set_aside(file), folder.path() / "result.h5.damaged-1");
  std::filesystem::create_symlink("nowhere", file);
  EXPECT_TRUE(something_at(file));
  EXPECT_EQ(set_aside(file), folder.path() / "result.h5.damaged-2");
  publish_once(file, "x");
  const auto third = set_aside(file);
  EXPECT_EQ(read_text_file(third), "x");
  EXPECT_TRUE(is_set_aside(third));
  EXPECT_FALSE(is_set_aside(file));
  EXPECT_FALSE(something_at(file));
  EXPECT_THROW(set_aside(file), StorageError);
}

TEST(SetAside, AFolderInTheWayOfAFileThatIsReplacedIsMovedAndKept) {
  TemporaryFolder folder;
  const auto file = folder.path() / "metrics.h5";
  std::filesystem::create_directory(file);
  publish_once(file / "inside", "kept");

  publish_replace(file, std::string_view("new"));

  EXPECT_EQ(read_text_file(file), "new");
  EXPECT_EQ(read_text_file(folder.path() / "metrics.h5.damaged-1" / "inside"), "kept");
}

}  // namespace set_aside_test
}  // namespace depthgrid
