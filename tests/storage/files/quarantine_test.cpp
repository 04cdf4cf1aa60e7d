#include "storage/files/quarantine.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace quarantine_test {

TEST(Quarantine, MovesAnythingUnderAFreshNameThatSaysSo) {
  TemporaryFolder folder;
  const auto file = folder.path() / "result.h5";
  std::filesystem::create_directory(file);
  EXPECT_EQ(quarantine(file), folder.path() / "result.h5.damaged-1");
  std::filesystem::create_symlink("nowhere", file);
  EXPECT_TRUE(something_at(file));
  EXPECT_EQ(quarantine(file), folder.path() / "result.h5.damaged-2");
  publish_once(file, "x");
  const auto third = quarantine(file);
  EXPECT_EQ(read_text_file(third), "x");
  EXPECT_TRUE(is_quarantined(third));
  EXPECT_FALSE(is_quarantined(file));
  EXPECT_FALSE(something_at(file));
  EXPECT_THROW(quarantine(file), StorageError);
}

TEST(Quarantine, AFolderInTheWayOfAFileThatIsReplacedIsMovedAndKept) {
  TemporaryFolder folder;
  const auto file = folder.path() / "metrics.h5";
  std::filesystem::create_directory(file);
  publish_once(file / "inside", "kept");

  publish_replace(file, std::string_view("new"));

  EXPECT_EQ(read_text_file(file), "new");
  EXPECT_EQ(read_text_file(folder.path() / "metrics.h5.damaged-1" / "inside"), "kept");
}

}  // namespace quarantine_test
}  // namespace depthgrid
