#include "storage/files/loose_text.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace loose_text_test {

TEST(LooseText, IsWhatTheFileHasFromAPlaceOn) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "one\ntwo\n";
  EXPECT_EQ(loose_text(folder.path() / "file"), "one\ntwo\n");
  EXPECT_EQ(loose_text(folder.path() / "file", 4), "two\n");
  EXPECT_EQ(loose_text(folder.path() / "file", 40), "");
}

TEST(LooseText, OfWhatIsNoFileIsNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(loose_text(folder.path() / "absent"), "");
  EXPECT_EQ(loose_text(folder.path()), "") << "a folder in its place";
}

TEST(LooseText, AFileWasWrittenAtATime) {
  const TemporaryFolder folder;
  const double before = unix_time();
  std::ofstream(folder.path() / "file") << "one\n";
  EXPECT_NEAR(written_time(folder.path() / "file"), before, 60);
  EXPECT_TRUE(std::isnan(written_time(folder.path() / "absent")));
}

}  // namespace loose_text_test
}  // namespace depthgrid
