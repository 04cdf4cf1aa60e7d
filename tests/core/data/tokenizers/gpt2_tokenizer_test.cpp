
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/data/corpus.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/tokenizers/tokenizer.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace gpt2_tokenizer_test {

using Ids = std::vector<std::uint32_t>;

/// The printable stand-in of a byte, worked out apart from the tokeniser.
std::string stand_in(int byte) {
  const bool own = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
  int code = byte;
  if (!own) {
    code = 256;
    for (int b = 0; b < byte; ++b) {
      if (!((b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD))) ++code;
    }
  }
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

/// Bytes 0..255 as ids 0..255, then four merges.
void write_small(const test::TemporaryFolder& folder, const std::string& merges) {
  std::string json = "{";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string token = stand_in(byte);
    json += (byte > 0 ? "," : "");
    json += "\"" + (token == "\"" || token == "\\" ? "\\" + token : token) +
            "\":" + std::to_string(byte);
  }
  json +=
      ",\"ab\":256,\"abc\":257,\"aa\":258,\"\xC4\xA0"
      "ab\":259}";
  folder.write("encoder.json", json);
  folder.write("vocab.bpe", merges);
}

std::unique_ptr<Tokenizer> made(const std::filesystem::path& folder) {
  return make_tokenizer({"gpt2", 0, folder}, "");
}

constexpr const char* kMerges = "#version: 0.2\na b\nab c\na a\n\xC4\xA0 ab\n";

TEST(Gpt2Tokenizer, MergesInTheOrderOfTheList) {
  const test::TemporaryFolder folder;
  write_small(folder, kMerges);
  const auto tokenizer = made(folder.path());
  EXPECT_EQ(tokenizer->vocab_size(), 260);
  EXPECT_TRUE(tokenizer->identity().starts_with("gpt2 "));
  EXPECT_EQ(tokenizer->encode("abc"), (Ids{257}));
  EXPECT_EQ(tokenizer->encode("aab"), (Ids{'a', 256}));   // "a b" before "a a"
  EXPECT_EQ(tokenizer->encode("aaaa"), (Ids{258, 258}));  // leftmost first
  EXPECT_EQ(tokenizer->encode("aaa"), (Ids{258, 'a'}));
  EXPECT_EQ(tokenizer->encode("ab ab"), (Ids{256, 259}));
}

TEST(Gpt2Tokenizer, CutsTextByThePublishedPattern) {
  const test::TemporaryFolder folder;
  write_small(folder, kMerges);
  const auto tokenizer = made(folder.path());
  // The second blank goes with the word; letters and digits do not mix; 's is a piece.
  EXPECT_EQ(tokenizer->encode("  ab"), (Ids{' ', 259}));
  EXPECT_EQ(tokenizer->encode("a1ab's"), (Ids{'a', '1', 256, '\'', 's'}));
  EXPECT_EQ(tokenizer->encode("ab \n"), (Ids{256, ' ', '\n'}));
}

TEST(Gpt2Tokenizer, EveryByteAndEveryScriptComesBack) {
  const test::TemporaryFolder folder;
  write_small(folder, kMerges);
  const auto tokenizer = made(folder.path());
  std::string text = "Tromsø — 東京 \xF0\x9F\x98\x80\t\r\n\v  x\xC2\xA0y  ";
  for (char c = 0; c < 127; ++c) text += c;
  for (int i = 0; i < 300; ++i) text += "aab";  // longer than what is cached
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  EXPECT_EQ(tokenizer->encode(text), tokenizer->encode(text));
  EXPECT_EQ(test::message_of<Error>([&] { tokenizer->decode(Ids{260}); }),
            "gpt2: id 260 is not below 260");
}

TEST(Gpt2Tokenizer, ALongPieceWithoutBlanksIsMergedAsAShortOne) {
  const test::TemporaryFolder folder;
  write_small(folder, kMerges);
  const auto tokenizer = made(folder.path());
  constexpr std::size_t kTimes = 300'000;
  std::string text;
  Ids expected;
  for (std::size_t i = 0; i < kTimes; ++i) {
    text += "aabcaaab";
    expected.insert(expected.end(), {'a', 257, 258, 256});
  }
  EXPECT_EQ(tokenizer->encode(text), expected);
}

TEST(Gpt2Tokenizer, DamagedFilesAreNamed) {
  const test::TemporaryFolder folder;
  write_small(folder, "#version: 0.2\na b\nq z\n");
  EXPECT_NE(test::message_of<UserError>([&] { made(folder.path()); }).find("vocab.bpe:3"),
            std::string::npos);
  folder.write("encoder.json", "{\"a\": 0");
  EXPECT_NE(test::message_of<UserError>([&] { made(folder.path()); }).find("encoder.json"),
            std::string::npos);
}

TEST(Gpt2Tokenizer, MissingFilesSayHowToGetThem) {
  const test::TemporaryFolder folder;
  const test::ScopedVariable root("DEPTHGRID_DATA", folder.path().c_str());
  const std::string message =
      test::message_of<UserError>([] { make_tokenizer({"gpt2", 0, {}}, ""); });
  EXPECT_NE(message.find((folder.path() / "gpt2-bpe").string()), std::string::npos) << message;
  EXPECT_NE(message.find("scripts/fetch_data.sh gpt2-bpe"), std::string::npos) << message;
}

class PublishedGpt2 : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = test::corpus_at_hand("gpt2-bpe", {"encoder.json", "vocab.bpe"});
    if (!folder) GTEST_SKIP() << "gpt2-bpe is not at hand";
    tokenizer_ = made(*folder);
  }
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(PublishedGpt2, GivesTheKnownIds) {
  EXPECT_EQ(tokenizer_->vocab_size(), 50257);
  EXPECT_EQ(tokenizer_->encode("The movie was"), (Ids{464, 3807, 373}));
  EXPECT_EQ(tokenizer_->encode(" good"), (Ids{922}));
  EXPECT_EQ(tokenizer_->encode(" bad"), (Ids{2089}));
  EXPECT_EQ(tokenizer_->encode(" "), (Ids{220}));
  EXPECT_EQ(tokenizer_->decode(Ids{50256}), "<|endoftext|>");
}

TEST_F(PublishedGpt2, GivesTheKnownCountsOfWikiText2) {
  const auto folder = test::corpus_at_hand("wikitext-2", {"train.txt", "valid.txt"});
  if (!folder) GTEST_SKIP() << "wikitext-2 is not at hand";
  const std::string train = read_corpus_file(*folder / "train.txt");
  const std::string valid = read_corpus_file(*folder / "valid.txt");
  const std::string joined = join_published_2(train);
  const Ids ids = tokenizer_->encode(joined);
  EXPECT_EQ(ids.size(), 2'426'738U);
  EXPECT_EQ(tokenizer_->decode(ids), joined);
  EXPECT_EQ(tokenizer_->encode(join_published_2(valid)).size(), 256'389U);
  EXPECT_EQ(tokenizer_->encode(train).size(), 2'450'227U);

  std::string single;  // blank lines dropped, one newline between the others
  for (std::size_t at = 0; at < joined.size(); ++at) {
    if (joined.compare(at, 2, "\n\n") == 0) continue;
    single += joined[at];
  }
  if (single.back() == '\n') single.pop_back();
  EXPECT_EQ(tokenizer_->encode(single).size(), 2'425'508U);
}

}  // namespace gpt2_tokenizer_test
}  // namespace depthgrid
