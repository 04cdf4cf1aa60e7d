#include "worker/data_pool.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/text_format.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/synthetic_sweep.hpp"
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

/// A text of 400 lines and the leaves of a cell that reads it.
class OwnText : public ::testing::Test {
 protected:
  static std::string lines(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i) text += "line " + std::to_string(i) + " of a text\n";
    return text;
  }
  CellConfig config(ValueMap more = {}) const {
    more.emplace_back("data.corpus", "file");
    const auto unless_given = [&more](const char* leaf, Value value) {
      if (find_key(more, leaf) == nullptr) more.emplace_back(leaf, std::move(value));
    };
    unless_given("data.path", text_);
    unless_given("data.seq_len", 16);
    more.emplace_back("data.tokenizer", "byte");
    sort_map(more);
    return make_config(more);
  }
  /// Makes the store's cards those of other tokens, as another release or tokeniser would have.
  static void damage_cards(const std::filesystem::path& root) {
    for (const auto& entry : std::filesystem::directory_iterator(root / "texts")) {
      std::string card = read_text_file(entry.path());
      const std::size_t at = card.find("\"sha256\": \"", card.find("\"train\"")) + 11;
      card[at] = card[at] == '0' ? '1' : '0';
      std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_write,
                                   std::filesystem::perm_options::add);
      std::ofstream(entry.path(), std::ios::binary) << card;
    }
  }
  TemporaryFolder folder_;
  std::string text_ = folder_.write("text.txt", lines(0, 400)).string();
};

TEST_F(OwnText, SplitsOfEqualTokensAreSaidAndKept) {
  const Store store = Store::open_or_create(folder_.path() / "s");
  const auto opened = [&](ValueMap more) { return DataPool(store).open(config(std::move(more))); };
  EXPECT_TRUE(opened({})->warnings.empty());
  const auto same = DataPool(Store::open_or_create(folder_.path() / "same"))
                        .open(config({{"data.valid", text_}, {"data.dev_fraction", 0}}));
  ASSERT_EQ(same->warnings.size(), 2U);
  EXPECT_NE(same->warnings[0].find("'train' and 'valid' have the same tokens"), std::string::npos);
  EXPECT_NE(same->warnings[1].find("data.valid is also trained on"), std::string::npos);
  const std::string held = folder_.write("held.txt", lines(400, 440)).string();
  const auto twice = DataPool(Store::open_or_create(folder_.path() / "twice"))
                         .open(config({{"data.valid", held}, {"data.test", held}}));
  ASSERT_EQ(twice->warnings.size(), 1U);
  EXPECT_NE(twice->warnings[0].find("'valid' and 'test'"), std::string::npos);
}

TEST_F(OwnText, RecordsUnderANameOfTextAreRefused) {
  const std::string lines = "{\"text\": \"held out words\"}\n{\"text\": \"and more\"}\n";
  const std::string jsonl = folder_.write("test.jsonl", lines).string();
  const std::string text = folder_.write("test.txt", lines).string();
  const Store store = Store::open_or_create(folder_.path() / "s");
  DataPool(store).open(config({{"data.test", jsonl}}));
  EXPECT_THROW(DataPool(store).open(config({{"data.test", text}})), UserError);
}

TEST_F(OwnText, TheTextOfAnotherFileInAnotherFormatIsSaidToBeTrainedOn) {
  std::string records;
  for (int i = 0; i < 400; ++i)
    records += "{\"text\": \"line " + std::to_string(i) + " of a text\"}\n";
  const std::string same = folder_.write("same.jsonl", records).string();
  const std::string text = folder_.write("same.txt", lines(0, 400)).string();
  const auto warned = DataPool(Store::open_or_create(folder_.path() / "s"))
                          .open(config({{"data.path", text}, {"data.valid", same}}));
  ASSERT_FALSE(warned->warnings.empty());
  EXPECT_NE(warned->warnings.back().find("data.valid is also trained on"), std::string::npos);
  const auto twice = DataPool(Store::open_or_create(folder_.path() / "t"))
                         .open(config({{"data.path", ValueList{Value(text), Value(same)}}}));
  ASSERT_FALSE(twice->warnings.empty());
  EXPECT_NE(twice->warnings.back().find("have the same contents"), std::string::npos);
}

TEST_F(OwnText, TokensThatAStoreWasNotTrainedOnAreRefused) {
  const std::filesystem::path root = folder_.path() / "s";
  const Store store = Store::open_or_create(root);
  DataPool(store).open(config());
  damage_cards(root);
  // Wherever the files are, and whatever windows are drawn from them.
  const std::string moved = folder_.write("moved.txt", lines(0, 400)).string();
  const std::vector<ValueMap> asked = {{},
                                       {{"data.path", moved}},
                                       {{"data.seq_len", 8}},
                                       {{"data.sampler", "epoch"}},
                                       {{"data.cache", (folder_.path() / "cache").string()}},
                                       {{"data.first_step", 3}},
                                       {{"model.vocab_size", 300}}};
  for (const ValueMap& more : asked) {
    try {
      DataPool(store).open(config(more));
      FAIL() << "other tokens were accepted with " << canonical_json(Value(more));
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::BadData);
      EXPECT_NE(std::string(error.what()).find("the tokens of split 'train' are not those"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST_F(OwnText, OtherLeavesOfTheSameCorpusDoNotHideThatItsTokensHaveChanged) {
  const std::filesystem::path root = folder_.path() / "s";
  const Store store = Store::open_or_create(root);
  Sweep sweep = synthetic_sweep({1e-3});
  sweep.cells[0].config = config();
  sweep.cells[0].id = cell_id(sweep.cells[0].config);
  publish_plan(store, sweep);
  DataPool(store).open(config());
  DataPool(store).open(config({{"data.dev_fraction", 0.1}}));  // other splits of the same tokens
  damage_cards(root);
  for (const ValueMap& more :
       {ValueMap{{"data.dev_fraction", 0.2}}, ValueMap{{"data.train_tokens", 900}}}) {
    EXPECT_THROW(DataPool(store).open(config(more)), UserError) << canonical_json(Value(more));
  }
}

TEST_F(OwnText, AStoreSaysByWhichRulesItsTokensWereMade) {
  const Store store = Store::open_or_create(folder_.path() / "s");
  DataPool(store).open(config());
  EXPECT_EQ(store.pinned_text_rules("file"), kTextRules);
  EXPECT_EQ(store.pinned_text_rules("other"), kTextRules);
  const std::string pin = store.pinned_corpus("file").value();
  folder_.write("s/corpora/old.json", "{\"name\": \"old\", \"sha256\": \"" + pin + "\"}");
  EXPECT_EQ(store.pinned_text_rules("old"), 1);
}

}  // namespace data_pool_test
}  // namespace depthgrid
