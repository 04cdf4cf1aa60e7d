#include "sweeps/plan/answer_cache.hpp"

#include <gtest/gtest.h>

#include "storage/files/sealed_file.hpp"
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

TEST(AnswerCache, ADamagedEntryAndThatOfAnotherQuestionAreNone) {
  const TemporaryFolder folder;
  const AnswerCache cache("no-worker", folder.path());
  cache.keep("question", "answer");
  const fs::path entry = fs::directory_iterator(folder.path())->path();
  const std::vector<std::byte> whole = read_file(entry);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::vector<std::byte> damaged = whole;
    damaged[i] ^= std::byte{1};
    overwrite(entry, damaged);
    EXPECT_FALSE(cache.find("question")) << "byte " << i;
    overwrite(entry, std::span(whole).first(i));
    EXPECT_FALSE(cache.find("question")) << i << " bytes";
  }
  fs::remove(entry);
  cache.keep("another", "yes");
  fs::rename(fs::directory_iterator(folder.path())->path(), entry);
  EXPECT_FALSE(cache.find("question"));
}

}  // namespace answer_cache_test
}  // namespace depthgrid
