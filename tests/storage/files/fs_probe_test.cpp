#include "storage/files/fs_probe.hpp"

#include <string>

#include <gtest/gtest.h>
#include <sys/mount.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace fs_probe_test {

TEST(FsProbe, FindsAllCapabilitiesHereAndLeavesNothing) {
  TemporaryFolder folder;

  EXPECT_NO_THROW(require_filesystem(folder.path()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FsProbe, NamesWhatIsMissingAndWhatToDo) {
  try {
    require_filesystem("/proc");  // a filesystem where nothing can be made
    FAIL() << "/proc cannot hold a store";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::CantCreate);
    EXPECT_NE(std::string(e.what()).find("exclusive creation"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("--store"), std::string::npos) << e.what();
  }
}

TEST(FsProbe, AFullDiskLacksBytesAndNoCapability) {
  TemporaryFolder folder;
  const auto disk = folder.path() / "disk";
  make_folders(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4k") != 0) {
    GTEST_SKIP() << "mounting a small disk needs privileges";
  }
  publish_replace(disk / "all", std::string(4096, 'x'));
  std::string message;
  try {
    require_filesystem(disk);
  } catch (const StorageError& e) {
    message = e.what();
  }
  umount(disk.c_str());

  EXPECT_NE(message.find("disk/: cannot write"), std::string::npos) << message;
  EXPECT_NE(message.find("needed 1 bytes, free 0"), std::string::npos) << message;
}

}  // namespace fs_probe_test
}  // namespace depthgrid
