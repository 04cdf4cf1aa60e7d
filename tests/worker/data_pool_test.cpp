#include "worker/data_pool.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace data_pool_test {

TEST(DataPool, TheTestTextIsPinnedLikeTheCorpus) {
  const TemporaryFolder folder;
  std::string words;
  for (int i = 0; i < 400; ++i) words += "line " + std::to_string(i) + " of a text\n";
  const std::string text = folder.write("text.txt", words).string();
  const std::string test = folder.write("test.txt", "held out words\nof a second text\n").string();
  ValueMap leaves = {{"data.corpus", "file"},
                     {"data.path", text},
                     {"data.seq_len", 16},
                     {"data.test", test},
                     {"data.tokenizer", "byte"}};
  sort_map(leaves);
  const Store store = Store::open_or_create(folder.path() / "s");
  DataPool(store).open(make_config(leaves));
  EXPECT_TRUE(store.pinned_corpus("file.test").has_value());

  folder.write("test.txt", "other words\nthan were held out\n");

  try {
    DataPool(store).open(make_config(leaves));
    FAIL() << "another test text was accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::BadData);
    EXPECT_NE(std::string(error.what()).find("file.test"), std::string::npos) << error.what();
  }
}

TEST(DataPool, ASplitThatIsShorterThanOneWindowIsSaid) {
  const TemporaryFolder folder;
  std::string words;
  for (int i = 0; i < 300; ++i) words += "word ";
  ValueMap leaves = {{"data.corpus", "file"},
                     {"data.path", folder.write("text.txt", words).string()},
                     {"data.seq_len", 256},
                     {"data.tokenizer", "byte"}};
  sort_map(leaves);
  const Store store = Store::open_or_create(folder.path() / "s");
  testing::internal::CaptureStderr();
  DataPool(store).open(make_config(leaves));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the split 'valid' has"), std::string::npos) << said;
  EXPECT_NE(said.find("fewer than one window of data.seq_len + 1 = 257"), std::string::npos);
}

}  // namespace data_pool_test
}  // namespace depthgrid
