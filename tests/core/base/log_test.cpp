#include "core/base/log.hpp"

#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace log_test {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class Log : public ::testing::Test {
 protected:
  ~Log() override { configure_log(LogLevel::Info, ""); }
};

TEST_F(Log, ShowsLinesFromTheLowestLevelOnWithTheirTag) {
  configure_log(LogLevel::Warning, "rank 1");
  CaptureStderr();

  log(LogLevel::Debug, "a");
  log(LogLevel::Info, "b");
  log(LogLevel::Warning, "c {}");
  log(LogLevel::Error, "d");

  EXPECT_EQ(GetCapturedStderr(),
            "depthgrid [rank 1]: warning: c {}\ndepthgrid [rank 1]: error: d\n");
}

TEST_F(Log, WithoutATagBeginsWithTheProgramsName) {
  configure_log(LogLevel::Debug, "");
  CaptureStderr();

  log(LogLevel::Debug, "here");

  EXPECT_EQ(GetCapturedStderr(), "depthgrid: here\n");
}

TEST_F(Log, TheFileGetsEveryLineWithTimeAndLevel) {
  const TemporaryFolder folder;
  const auto first = folder.path() / "first.log", second = folder.path() / "second.log";
  configure_log(LogLevel::Error, "");
  CaptureStderr();

  log_to_file(first);
  log(LogLevel::Debug, "not shown");
  log_quietly(LogLevel::Warning, "two\nlines");
  log_to_file(second);
  log_quietly(LogLevel::Info, "later");

  EXPECT_EQ(GetCapturedStderr(), "");
  const std::string time = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)";
  EXPECT_TRUE(std::regex_match(
      contents(first), std::regex(time + " debug: not shown\n" + time + " warning: two lines\n")))
      << contents(first);
  EXPECT_TRUE(std::regex_match(contents(second), std::regex(time + " info: later\n")));
}

TEST_F(Log, AFileThatCannotBeOpenedIsAnError) {
  const TemporaryFolder folder;
  const auto file = folder.write("file", "");
  EXPECT_THROW(log_to_file(file / "below a file"), StorageError);
}

TEST(LogLevels, HaveNamesAndAreTakenFromTheEnvironment) {
  EXPECT_EQ(log_level_named("warning"), LogLevel::Warning);
  EXPECT_FALSE(log_level_named("loud"));
  ::unsetenv(kLogLevelVariable);
  EXPECT_EQ(wanted_log_level(), LogLevel::Info);
  ::setenv(kLogLevelVariable, "error", 1);
  EXPECT_EQ(wanted_log_level(), LogLevel::Error);
  ::unsetenv(kLogLevelVariable);
}

}  // namespace log_test
}  // namespace depthgrid
