#include "core/base/last_lines.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace last_lines_test {

TEST(LastLines, AreThoseOfAFileOrNone) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "log";
  std::ofstream(file) << "one\ntwo\nthree\n";
  EXPECT_EQ(last_lines(file, 2), "two\nthree\n");
  EXPECT_EQ(last_lines(file, 9), "one\ntwo\nthree\n");
  EXPECT_EQ(last_lines(folder.path() / "absent", 9), "");
}

}  // namespace last_lines_test
}  // namespace depthgrid
