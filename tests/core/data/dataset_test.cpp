#include "core/data/dataset.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/data/corpus_search.hpp"
#include "data_test_support.hpp"

namespace depthgrid {
namespace dataset_test {

std::string lines(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += "line " + std::to_string(1000 + i) + "\n";  // 10 bytes each
  return text;
}

class OwnText : public testing::Test {
 protected:
  OwnText() {
    options_.corpus = "file";
    options_.paths = {folder_.write("text.txt", lines(100))};
    options_.seq_len = 16;
    options_.model_vocab_size = 256;
  }
  test::TemporaryFolder folder_;
  DataOptions options_;
};

TEST_F(OwnText, IsCutIntoTokenStreams) {
  const Dataset data = open_dataset(options_);
  EXPECT_EQ(data.split(Split::Train).size(), 960);
  EXPECT_EQ(data.split(Split::Dev).size(), 20);
  EXPECT_EQ(data.split(Split::Valid).size(), 20);
  EXPECT_TRUE(data.split(Split::Test).empty());
  EXPECT_EQ(data.vocab_size, 256);
  EXPECT_DOUBLE_EQ(data.valid().bytes_per_token(), 1.0);
  EXPECT_EQ(data.train()[0], static_cast<std::uint32_t>('l'));
  EXPECT_EQ(data.corpus_sha256.size(), 64U);
  EXPECT_EQ(data.tokens_sha256, data.train().sha256());
  EXPECT_FALSE(data.entropy_rate.has_value());
}

TEST_F(OwnText, IsTheSameThroughTheCache) {
  const std::filesystem::path cache = folder_.path() / "cache";
  const Dataset memory = open_dataset(options_);
  const Dataset written = open_dataset(options_, cache);
  const Dataset mapped = open_dataset(options_, cache);
  EXPECT_TRUE(std::filesystem::exists(cache));
  EXPECT_EQ(written.tokens_sha256, memory.tokens_sha256);
  EXPECT_EQ(mapped.tokens_sha256, memory.tokens_sha256);
  options_.cache = folder_.path() / "chosen";
  open_dataset(options_, folder_.path() / "not used");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "chosen"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "not used"));
}

TEST_F(OwnText, TrainTokensKeepsTheFirst) {
  const Dataset all = open_dataset(options_);
  options_.train_tokens = 100;
  const Dataset some = open_dataset(options_);
  EXPECT_EQ(some.train().size(), 100);
  EXPECT_EQ(some.train().bytes(), 100);
  EXPECT_EQ(some.train()[99], all.train()[99]);
  EXPECT_NE(some.tokens_sha256, all.tokens_sha256);
  EXPECT_EQ(some.corpus_sha256, all.corpus_sha256);
  EXPECT_EQ(some.valid().size(), all.valid().size());
  options_.train_tokens = 1'000'000;
  EXPECT_EQ(open_dataset(options_).train().size(), 960);
}

TEST_F(OwnText, TrainTokensHaveTheBytesOfTheirOwn) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\xC3\xA9";  // two bytes each, then one
  options_.paths = {folder_.write("two.txt", text + "\n" + lines(100))};
  options_.tokenizer = "char";
  options_.model_vocab_size = 64;
  options_.train_tokens = 250;
  EXPECT_EQ(open_dataset(options_).train().bytes(), 500);
  options_.train_tokens = 400;
  EXPECT_EQ(open_dataset(options_).train().bytes(), 700);
}

TEST_F(OwnText, CharNeedsAVocabularyOfTheTextsOwnSize) {
  options_.tokenizer = "char";  // "line \n", digits: 6 + 10, and the unknown
  options_.model_vocab_size = 16;
  const std::string small = test::message_of<UserError>([&] { open_dataset(options_); });
  EXPECT_NE(small.find("17"), std::string::npos) << small;
  options_.model_vocab_size.reset();
  const std::string missing = test::message_of<UserError>([&] { open_dataset(options_); });
  EXPECT_NE(missing.find("text's own number is 17"), std::string::npos) << missing;
  options_.model_vocab_size = 17;
  EXPECT_EQ(open_dataset(options_).vocab_size, 17);
  options_.model_vocab_size = 64;  // larger pads
  EXPECT_NO_THROW(open_dataset(options_));
}

TEST_F(OwnText, TooShortForOneWindowIsOneClearError) {
  options_.seq_len = 959;
  EXPECT_NO_THROW(open_dataset(options_));
  options_.seq_len = 960;
  const std::string message = test::message_of<UserError>([&] { open_dataset(options_); });
  EXPECT_NE(message.find("960 training tokens are too few"), std::string::npos) << message;
  EXPECT_NE(message.find("961"), std::string::npos) << message;
}

TEST_F(OwnText, ASplitOfItsOwnWithTooFewTokensIsNamed) {
  options_.tokenizer = "word";
  options_.model_vocab_size = 4096;
  options_.seq_len = 16;
  const std::string sixteen_words = "a b c d e f g h i j k l m n o p";
  for (const auto& [leaf, file] :
       {std::pair("data.valid", &options_.valid), std::pair("data.test", &options_.test)}) {
    *file = folder_.write("own.txt", sixteen_words);
    const std::string said = test::message_of<UserError>([&] { open_dataset(options_); });
    EXPECT_NE(said.find(leaf), std::string::npos) << said;
    EXPECT_NE(said.find("own.txt' has 16 tokens"), std::string::npos) << said;
    file->clear();
  }
}

TEST_F(OwnText, WithoutNewlinesIsCutAllTheSame) {
  options_.paths = {folder_.write("one_line.txt", std::string(500, 'x'))};
  const Dataset data = open_dataset(options_);
  EXPECT_EQ(data.valid().size(), 10);
  EXPECT_EQ(data.split(Split::Dev).size(), 10);
  EXPECT_EQ(data.train().size(), 481);  // the text is closed by a newline
}

TEST_F(OwnText, WithoutAnythingToValidateOnIsRefused) {
  options_.valid_fraction = 0;
  const std::string message = test::message_of<UserError>([&] { open_dataset(options_); });
  EXPECT_NE(message.find("'valid'"), std::string::npos) << message;
}

TEST_F(OwnText, WordsAreReadFromTheTrainingText) {
  options_.tokenizer = "word";
  options_.word_vocab_size = 8;
  const Dataset data = open_dataset(options_);
  EXPECT_EQ(data.vocab_size, 8);
  EXPECT_EQ(data.train().size(), 192);
  EXPECT_EQ(data.train().bytes(), 0) << "words do not keep the text";
  EXPECT_EQ(data.train()[0], 1U);  // "line"
}

TEST(TokenFiles, AreCutByTokens) {
  const test::TemporaryFolder folder;
  std::string ids;
  for (int i = 0; i < 1000; ++i) ids += {static_cast<char>(i % 50), '\0'};
  folder.write("a.bin", ids);
  folder.write("a.json",
               R"({"dtype": "uint16", "vocab_size": 50, "tokenizer": "gpt2", "bytes": 4000})");
  DataOptions options;
  options.corpus = "file";
  options.tokenizer = "gpt2";
  options.seq_len = 16;
  options.paths = {folder.path() / "a.bin"};
  options.model_vocab_size = 50;
  const Dataset data = open_dataset(options);
  EXPECT_EQ(data.train().size(), 960);
  EXPECT_EQ(data.split(Split::Dev)[0], 10U);
  EXPECT_EQ(data.valid().size(), 20);
  EXPECT_EQ(data.valid().bytes(), 0) << "nobody knows which ids are the long ones";
  options.paths.push_back(options.paths[0]);
  EXPECT_EQ(open_dataset(options).train().size(), 1920);
  options.model_vocab_size = 49;
  EXPECT_THROW(open_dataset(options), UserError);
  options.model_vocab_size = 50;
  options.tokenizer = "byte";
  EXPECT_THROW(open_dataset(options), UserError);
  options.tokenizer = "gpt2";
  options.paths[1] = folder.write("b.txt", "text\n");
  EXPECT_THROW(open_dataset(options), UserError);
}

TEST(SyntheticDataset, HasAnEntropyRateAndNoBytes) {
  DataOptions options;
  options.corpus = "synthetic:markov";
  options.synthetic.tokens = 20'000;
  const Dataset data = open_dataset(options);
  EXPECT_EQ(data.train().size(), 20'000);
  EXPECT_EQ(data.valid().size(), 1000);
  EXPECT_EQ(data.vocab_size, 64);
  ASSERT_TRUE(data.entropy_rate.has_value());
  EXPECT_LT(*data.entropy_rate, std::log(64.0));
  EXPECT_EQ(data.valid().bytes(), 0);
  EXPECT_EQ(open_dataset(options).tokens_sha256, data.tokens_sha256);
  options.model_vocab_size = 63;
  EXPECT_THROW(open_dataset(options), UserError);
}

/// Ids of 255 and the entropy of the ids, in nats.
std::pair<double, double> clamped_and_entropy(const TokenStream& stream) {
  std::vector<double> count(256);
  for (std::int64_t i = 0; i < stream.size(); ++i) ++count[stream[i]];
  double nats = 0;
  for (const double c : count) {
    const double p = c / static_cast<double>(stream.size());
    nats -= p > 0 ? p * std::log(p) : 0;
  }
  return {count[255], nats};
}

// The numbers of a text of the same kind, small enough to be counted apart (by Python).
TEST(WikiText2, InMiniatureHasTheCountedTokens) {
  const test::TemporaryFolder folder;
  folder.write(
      "train.txt",
      " \n = Valkyria Chronicles III = \n \n Senj\xc5\x8d no Valkyria 3 : <unk> Chronicles "
      "( Japanese : \xe6\x88\xa6\xe5\xa0\xb4 , lit . \n The caf\xc3\xa9 's 1 @,@ 000 "
      "m\xc2\xb2 \xe2\x80\x93 and so on . \n \n = = Gameplay = = \n \n As with previous "
      "games , it is a tactical role @-@ playing game . \n");
  folder.write("valid.txt",
               " \n = Homarus gammarus = \n \n It has large claws \xe2\x86\x92 10 \xc2\xb5m . \n");
  DataOptions options;
  options.paths = {folder.path()};
  options.published_split = true;
  options.seq_len = 16;
  const Dataset data = open_dataset(options);
  EXPECT_TRUE(data.variant.empty());  // none of the published texts
  EXPECT_EQ(data.train().size(), 231);
  EXPECT_EQ(data.train().bytes(), 0) << "four characters share the id 255";
  EXPECT_EQ(data.valid().size(), 58);
  const auto [train_clamped, train_entropy] = clamped_and_entropy(data.train());
  EXPECT_EQ(train_clamped, 4);
  EXPECT_NEAR(train_entropy, 3.162772530272, 1e-9);
  const auto [valid_clamped, valid_entropy] = clamped_and_entropy(data.valid());
  EXPECT_EQ(valid_clamped, 1);
  EXPECT_NEAR(valid_entropy, 2.670985717182, 1e-9);
  options.join_published_2 = true;
  const Dataset joined = open_dataset(options);
  EXPECT_EQ(joined.train().size(), 227);  // the last line keeps its end
  EXPECT_EQ(joined.valid().size(), 55);
}

TEST(WikiText2, IsTheFirstStudysStreamOfCharacters) {
  const auto folder = test::corpus_at_hand("wikitext-2", {"train.txt", "valid.txt"});
  if (!folder) GTEST_SKIP() << "wikitext-2 is not at hand";
  DataOptions options;
  options.paths = {*folder};
  options.published_split = true;
  const Dataset data = open_dataset(options);
  if (data.variant.empty()) GTEST_SKIP() << "another WikiText-2 text";
  EXPECT_EQ(data.train().size(), 10'810'591);
  EXPECT_EQ(data.valid().size(), 1'122'901);
  const auto [train_clamped, train_entropy] = clamped_and_entropy(data.train());
  EXPECT_EQ(train_clamped, 7328);
  EXPECT_NEAR(train_entropy, 3.184, 5e-4);
  EXPECT_NEAR(clamped_and_entropy(data.valid()).second, 3.193, 5e-4);
}

}  // namespace dataset_test
}  // namespace depthgrid
