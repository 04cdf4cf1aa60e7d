#include "sweeps/plan/answer_cache.hpp"

#include <gtest/gtest.h>

#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace answer_cache_test {

namespace fs = std::filesystem;

TEST(AnswerCache, AnswersWhatItWasTold) {
  const TemporaryFolder folder;
  const AnswerCache cache("no-worker", folder.path() / "cache");
  EXPECT_FALSE(cache.find("question"));
  cache.keep("question", "answer");
  EXPECT_EQ(cache.find("question"), "answer");
  EXPECT_FALSE(cache.find("another"));
}

TEST(AnswerCache, AnEntryThatCannotBeReadIsNone) {
  const TemporaryFolder folder;
  const AnswerCache cache("no-worker", folder.path());
  cache.keep("question", "answer");
  const fs::path entry = fs::directory_iterator(folder.path())->path();
  fs::remove(entry);
  fs::create_directory(entry);  // opens like a file, and cannot be read

  EXPECT_FALSE(cache.find("question"));
  cache.keep("question", "answer");  // costs time only
}

}  // namespace answer_cache_test
}  // namespace depthgrid
