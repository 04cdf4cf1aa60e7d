#include "storage/files/fs_probe.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
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

}  // namespace fs_probe_test
}  // namespace depthgrid
