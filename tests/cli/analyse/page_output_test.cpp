#include "cli/analyse/page_output.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "storage/store.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace page_output_test {

namespace fs = std::filesystem;

template <typename Call>
std::string usage_error(const Call& call) {
  try {
    call();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

template <typename Call>
std::string storage_error(const Call& call) {
  try {
    call();
  } catch (const StorageError& e) {
    return e.what();
  }
  return "";
}

TEST(PageOutput, FormatsHaveNames) {
  EXPECT_FALSE(page_format_of("").has_value());
  EXPECT_FALSE(page_format_of("html").has_value());
  EXPECT_EQ(page_format_of("markdown"), PageFormat::Markdown);
  EXPECT_EQ(page_format_of("latex"), PageFormat::Latex);
  EXPECT_EQ(page_format_of("svg"), PageFormat::Svg);
  EXPECT_NE(usage_error([] {
              page_format_of("pdf");
            }).find("--format pdf: html, markdown, latex or svg was expected"),
            std::string::npos);
}

TEST(PageOutput, AFolderIsNoPageAndAFileNoFolder) {
  const TemporaryFolder scratch;
  const fs::path file = scratch.path() / "there.html";
  std::ofstream(file) << "old";
  EXPECT_EQ(usage_error([&] { check_page_target(file, std::nullopt); }), "");
  EXPECT_EQ(usage_error([&] { check_page_target(scratch.path(), PageFormat::Svg); }), "");
  EXPECT_EQ(usage_error([&] { check_page_target(scratch.path() / "new", PageFormat::Svg); }), "");
  EXPECT_NE(usage_error([&] { check_page_target(scratch.path(), std::nullopt); }).find("a folder"),
            std::string::npos);
  EXPECT_NE(usage_error([&] { check_page_target(file, PageFormat::Latex); }).find("is a file"),
            std::string::npos);
  const fs::path store = scratch.path() / "store";
  Store::open_or_create(store);
  EXPECT_NE(usage_error([&] { check_page_target(store, PageFormat::Latex); }).find("is a store"),
            std::string::npos);
}

TEST(PageOutput, APlaceThatCannotBeWrittenToIsRefusedBeforeAnythingIsRead) {
  const TemporaryFolder scratch;
  const fs::path file = scratch.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_NE(storage_error([&] {
              check_page_target(scratch.path() / "none/x.html", std::nullopt);
            }).find("none: cannot open the folder: No such file or directory"),
            std::string::npos);
  EXPECT_NE(storage_error([&] {
              check_page_target(file / "x.html", std::nullopt);
            }).find("cannot open the folder: Not a directory"),
            std::string::npos);
  EXPECT_NE(storage_error([&] {
              check_page_target(file / "a/b", PageFormat::Svg);
            }).find("file/a/b: cannot make the folder: Not a directory"),
            std::string::npos);
  EXPECT_EQ(storage_error([&] { check_page_target(scratch.path() / "a/b/", PageFormat::Svg); }),
            "");
  EXPECT_EQ(storage_error([] { check_page_target("x.html", std::nullopt); }), "");
  EXPECT_EQ(storage_error([] { check_page_target("x", PageFormat::Svg); }), "");
  EXPECT_FALSE(fs::exists(scratch.path() / "a")) << "nothing is made yet";
  if (geteuid() == 0) return;  // who may write anywhere
  fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string page = storage_error(
                        [&] { check_page_target(scratch.path() / "x.html", std::nullopt); }),
                    folder = storage_error(
                        [&] { check_page_target(scratch.path() / "a/b", PageFormat::Svg); });
  fs::permissions(scratch.path(), fs::perms::owner_all);
  EXPECT_NE(page.find("x.html: cannot create a file beside it: Permission"), std::string::npos);
  EXPECT_NE(folder.find("a: cannot make the folder: Permission denied"), std::string::npos);
}

TEST(PageOutput, FilesAreWrittenIntoAFolderThatIsMade) {
  const TemporaryFolder scratch;
  const fs::path folder = scratch.path() / "a/b";
  EXPECT_EQ(publish_page_files(folder, std::vector<PageFile>{{"x.csv", "1\n"}, {"y.svg", "abc"}}),
            5U);
  std::string text;
  std::getline(std::ifstream(folder / "y.svg"), text);
  EXPECT_EQ(text, "abc");
  EXPECT_TRUE(fs::exists(folder / "x.csv"));
}

}  // namespace page_output_test
}  // namespace depthgrid
