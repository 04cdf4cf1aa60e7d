#include "storage/files/folder_modes.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/store.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace folder_modes_test {

TEST(FolderModes, OfAStoreAreTheOwnersUnlessSticky) {
  EXPECT_FALSE(unsafe_modes("s", {0755, TMPFS_MAGIC}));
  EXPECT_FALSE(unsafe_modes("s", {01777, TMPFS_MAGIC}));
  for (const unsigned mode : {0770U, 0757U}) {
    const auto problem = unsafe_modes("some/store", {mode, TMPFS_MAGIC});
    ASSERT_TRUE(problem) << mode;
    EXPECT_FALSE(problem->of_mount);
    EXPECT_EQ(problem->cure, "run 'chmod go-w some/store'");
  }
}

TEST(FolderModes, WhereThereAreNoneTheFileSystemIsNamedAndChmodIsNotAdvised) {
  const auto vfat = unsafe_modes("s", {0777, MSDOS_SUPER_MAGIC});
  const auto exfat = unsafe_modes("s", {0777, EXFAT_SUPER_MAGIC});
  ASSERT_TRUE(vfat && exfat);
  for (const auto& [problem, name] : {std::pair(*vfat, " vfat,"), std::pair(*exfat, " exfat,")}) {
    EXPECT_TRUE(problem.of_mount);
    EXPECT_NE(problem.seen.find(name), std::string::npos) << problem.seen;
    EXPECT_NE(problem.seen.find("no modes"), std::string::npos) << problem.seen;
    EXPECT_EQ(problem.cure.find("chmod go-w"), std::string::npos) << problem.cure;
    EXPECT_NE(problem.cure.find("--store"), std::string::npos) << problem.cure;
  }
}

TEST(FolderModes, AreThoseOfTheFolderAndOfWhatItLiesOn) {
  TemporaryFolder folder;
  chmod(folder.path().c_str(), 02750);
  EXPECT_EQ(modes_of(folder.path()).mode, 02750U);
  EXPECT_EQ(modes_of("/proc").file_system, PROC_SUPER_MAGIC);
  publish_replace(folder.path() / "file", "x");
  EXPECT_THROW(modes_of(folder.path() / "file"), StorageError);
  EXPECT_THROW(modes_of(folder.path() / "none"), StorageError);
}

TEST(FolderModes, AStoreIsRefusedInTheseWords) {
  TemporaryFolder folder;
  chmod(folder.path().c_str(), 0770);
  try {
    Store::open_or_create(folder.path());
    FAIL() << "others may write to it";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::CantCreate);
    const std::string path = folder.path().string();
    EXPECT_NE(std::string(e.what()).find(
                  "(mode 770) and could exchange its files: run 'chmod go-w " + path + "'"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace folder_modes_test
}  // namespace depthgrid
