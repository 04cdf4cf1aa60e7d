#include "core/base/scratch_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolder, EachIsItsOwnAndGoesAwayWithWhatIsInIt) {
  std::optional<ScratchFolder> first(std::in_place), second(std::in_place);
  EXPECT_NE(first->path(), second->path());
  const fs::path path = first->path();
  fs::create_directories(path / "deeper");
  std::ofstream(path / "deeper" / "file") << "text";
  first.reset();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::is_directory(second->path()));
}

TEST(ScratchFolder, LiesBelowAParentThatIsMade) {
  const ScratchFolder outer;
  const fs::path parent = outer.path() / "not" / "yet";
  const ScratchFolder inner(parent);
  EXPECT_EQ(inner.path().parent_path(), parent);
  EXPECT_TRUE(fs::is_directory(inner.path()));
}

TEST(ScratchFolder, SaysWhereThereCanBeNone) {
  try {
    const ScratchFolder none("/dev/null/below");
    FAIL() << "a folder below a file";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::CantCreate);
    EXPECT_NE(std::string(error.what()).find("/dev/null/below"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("TMPDIR"), std::string::npos) << error.what();
  }
}

TEST(ScratchFolder, SaysThatTmpdirIsNoFolder) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/nowhere/tmp", 1);
  try {
    const ScratchFolder none;
    FAIL() << "a folder in none";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::CantCreate);
    EXPECT_NE(std::string(error.what()).find("TMPDIR=/nowhere/tmp"), std::string::npos)
        << error.what();
  }
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace depthgrid
