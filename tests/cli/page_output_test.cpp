#include "cli/page_output.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

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
