#include "storage/files/line_log.hpp"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "core/base/error.hpp"
#include "storage/files/loose_text.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace line_log_test {

using Lines = std::vector<std::string>;

TEST(LineLog, ReadersSeeEveryLineAtOnceAndNoFileBeforeTheFirst) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log";
  LineLog log(file);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(whole_lines(file), Lines{});
  log.append("one");
  EXPECT_EQ(whole_lines(file), Lines{"one"});
  log.append("");
  log.append("three");
  EXPECT_EQ(whole_lines(file), (Lines{"one", "", "three"}));
}

TEST(LineLog, ATornLastLineIsLeftOut) {
  const TemporaryFolder folder;
  const auto file = folder.write("log", "one\ntwo\nthr");
  EXPECT_EQ(whole_lines(file), (Lines{"one", "two"}));
}

TEST(LineLog, WhatCannotBeWrittenThrowsAndTheNextLineBeginsAnew) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "log";
  LineLog log(file);
  log.append("one");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 7;  // four bytes are there: of the next line three fit
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(log.append("second"), StorageError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  log.append("third");
  EXPECT_EQ(loose_text(file), "one\nsec\nthird\n");
}

TEST(LineLog, AFileThatCannotBeOpenedIsAnErrorOfTheStore) {
  const TemporaryFolder folder;
  LineLog log(folder.path() / "absent" / "log");
  EXPECT_THROW(log.append("one"), StorageError);
}

}  // namespace line_log_test
}  // namespace depthgrid
