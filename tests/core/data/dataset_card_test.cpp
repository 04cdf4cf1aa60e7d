#include "core/data/dataset_card.hpp"

#include <gtest/gtest.h>

#include "data_test_support.hpp"

namespace depthgrid {
namespace dataset_card_test {

std::string verses() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "verse " + std::to_string(i % 37) + " of many\n";
  return text;
}

class KeptDataset : public testing::TestWithParam<const char*> {
 protected:
  KeptDataset() {
    options_.corpus = "file";
    options_.paths = {folder_.write("text.txt", verses())};
    options_.seq_len = 16;
    options_.tokenizer = GetParam();
    options_.word_vocab_size = 20;
    options_.model_vocab_size = 256;
    options_.test_fraction = 0.1;
  }
  std::filesystem::path cache() const { return folder_.path() / "tokens"; }

  test::TemporaryFolder folder_;
  DataOptions options_;
};

TEST_P(KeptDataset, IsTheSameWithoutTheCorpus) {
  const Dataset data = open_dataset(options_, cache());
  const std::string card = dataset_card(data);
  std::filesystem::remove(options_.paths.front());
  const std::filesystem::path moved = folder_.path() / "moved";
  std::filesystem::rename(cache(), moved);
  const auto kept = dataset_of_card(card, options_, moved);
  ASSERT_TRUE(kept.has_value());
  for (std::size_t i = 0; i < data.streams.size(); ++i) {
    EXPECT_EQ(kept->streams[i].sha256(), data.streams[i].sha256());
    EXPECT_EQ(kept->streams[i].bytes(), data.streams[i].bytes());
  }
  EXPECT_EQ(kept->vocab_size, data.vocab_size);
  EXPECT_EQ(kept->corpus_sha256, data.corpus_sha256);
  EXPECT_EQ(kept->tokens_sha256, data.tokens_sha256);
  EXPECT_EQ(kept->tokenizer->identity(), data.tokenizer->identity());
  EXPECT_EQ(kept->tokenizer->encode("verse 5 of"), data.tokenizer->encode("verse 5 of"));
  EXPECT_EQ(dataset_card(*kept), card);
}

TEST_P(KeptDataset, ADamagedCardOrTokenFileIsNone) {
  const Dataset data = open_dataset(options_, cache());
  const std::string card = dataset_card(data);
  EXPECT_FALSE(dataset_of_card(card.substr(0, card.size() / 2), options_, cache()));
  EXPECT_FALSE(dataset_of_card("{}", options_, cache()));
  DataOptions other = options_;
  other.tokenizer = options_.tokenizer == "byte" ? "char256" : "byte";
  EXPECT_FALSE(dataset_of_card(card, other, cache()));
  std::filesystem::resize_file(data.token_files[2], 70);
  EXPECT_FALSE(dataset_of_card(card, options_, cache()));
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, KeptDataset,
                         testing::Values("byte", "char256", "char", "word"),
                         [](const auto& p) { return std::string(p.param); });

TEST(TokenFilesKept, AllButTheTrainingIds) {
  const test::TemporaryFolder folder;
  std::string ids;
  for (int i = 0; i < 1000; ++i) ids += {static_cast<char>(i % 50), '\0'};
  DataOptions options;
  options.corpus = "file";
  options.paths = {folder.write("a.bin", ids)};
  folder.write("a.json", R"({"dtype": "uint16", "vocab_size": 50, "bytes": 4000})");
  options.seq_len = 16;
  options.model_vocab_size = 50;
  const Dataset data = open_dataset(options, folder.path() / "tokens");
  const std::string card = dataset_card(data);
  std::filesystem::remove(options.paths.front());
  const auto kept = dataset_of_card(card, options, folder.path() / "tokens");
  ASSERT_TRUE(kept.has_value());
  EXPECT_TRUE(kept->train().empty());
  EXPECT_EQ(kept->valid().sha256(), data.valid().sha256());
  EXPECT_EQ(kept->valid().bytes(), data.valid().bytes());
  EXPECT_EQ(kept->split(Split::Dev).sha256(), data.split(Split::Dev).sha256());
  EXPECT_EQ(kept->vocab_size, 50);
}

}  // namespace dataset_card_test
}  // namespace depthgrid
