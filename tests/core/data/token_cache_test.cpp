#include "core/data/token_cache.hpp"

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/config/text_format.hpp"
#include "data_test_support.hpp"

namespace depthgrid {
namespace token_cache_test {

/// Counts how often a text is really tokenised.
class CountingTokenizer final : public Tokenizer {
 public:
  explicit CountingTokenizer(std::int64_t vocab_size = 256) : vocab_size_(vocab_size) {}
  std::string identity() const override { return "counting"; }
  std::int64_t vocab_size() const override { return vocab_size_; }
  std::vector<std::uint32_t> encode(std::string_view text) const override {
    ++calls;
    return {text.begin(), text.end()};  // ASCII only
  }
  mutable int calls = 0;

 private:
  void append(std::uint32_t, std::string&) const override {}

  std::int64_t vocab_size_;
};

TEST(TokenCache, ASecondOpeningReadsTheFile) {
  const test::TemporaryFolder folder;
  const TokenCache cache(folder.path() / "tokens");
  const CountingTokenizer tokenizer;
  const TokenStream first = cache.tokens("hello", tokenizer);
  const TokenStream second = cache.tokens("hello", tokenizer);
  EXPECT_EQ(tokenizer.calls, 1);
  ASSERT_EQ(second.size(), 5);
  EXPECT_EQ(second[1], static_cast<std::uint32_t>('e'));
  EXPECT_EQ(second.bytes(), 5);
  EXPECT_EQ(first.sha256(), second.sha256());
}

TEST(TokenCache, TextAndTokeniserNameTheFile) {
  const TokenCache cache("/tokens");
  const auto byte = make_tokenizer({"byte", 0, {}}, "");
  const auto char256 = make_tokenizer({"char256", 0, {}}, "");
  const Tokenizer &bytes = *byte, &characters = *char256;
  EXPECT_NE(cache.file_of("a", bytes), cache.file_of("b", bytes));
  EXPECT_NE(cache.file_of("a", bytes), cache.file_of("a", characters));
  EXPECT_EQ(cache.file_of("a", bytes), cache.file_of("a", bytes));
}

// Tokens by former rules are not found.
TEST(TokenCache, TheNumberOfTheTextRulesNamesTheFile) {
  const CountingTokenizer tokenizer;
  const std::string named = hex(sha256("a")) + "\ncounting\nrules " + std::to_string(kTextRules);
  EXPECT_EQ(TokenCache("/tokens").file_of("a", tokenizer).filename(),
            hex(sha256(named)) + ".tokens");
}

TEST(TokenCache, DamagedAndShortFilesAreWrittenAgain) {
  const test::TemporaryFolder folder;
  const TokenCache cache(folder.path());
  const CountingTokenizer tokenizer;
  const std::string text = "some text of a corpus";
  cache.tokens(text, tokenizer);
  const std::filesystem::path file = cache.file_of(text, tokenizer);
  const auto size = std::filesystem::file_size(file);

  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(70).put('\x7F');
  EXPECT_EQ(cache.tokens(text, tokenizer)[0], static_cast<std::uint32_t>('s'));
  EXPECT_EQ(cache.tokens(text, tokenizer)[3], static_cast<std::uint32_t>('e'));
  EXPECT_EQ(tokenizer.calls, 2);

  for (const std::uintmax_t shorter :
       {size - 1, std::uintmax_t{96}, std::uintmax_t{10}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(file, shorter);
    EXPECT_EQ(cache.tokens(text, tokenizer).size(), 21) << shorter;
    EXPECT_EQ(std::filesystem::file_size(file), size);
  }
  EXPECT_EQ(tokenizer.calls, 6);
}

TEST(TokenCache, NoByteOfAFileMayChangeAndTheFileOfAnotherTextIsNotUsed) {
  const test::TemporaryFolder folder;
  const TokenCache cache(folder.path());
  const CountingTokenizer tokenizer;
  cache.tokens("one", tokenizer);
  const std::filesystem::path file = cache.file_of("one", tokenizer);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file));
  for (std::streamoff at = 0; at < size; ++at) {
    std::fstream damaged(file, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekg(at);
    const int byte = damaged.get();
    damaged.seekp(at).put(static_cast<char>(byte ^ 1));
    damaged.close();
    const TokenStream tokens = cache.tokens("one", tokenizer);
    EXPECT_EQ(tokens.bytes(), 3) << "byte " << at;
    EXPECT_EQ(tokens[0], static_cast<std::uint32_t>('o')) << "byte " << at;
  }
  EXPECT_EQ(tokenizer.calls, 1 + size);

  cache.tokens("two", tokenizer);
  std::filesystem::rename(cache.file_of("two", tokenizer), file);
  EXPECT_EQ(cache.tokens("one", tokenizer)[0], static_cast<std::uint32_t>('o'));
}

TEST(TokenCache, LargeVocabulariesTakeFourBytesAToken) {
  const test::TemporaryFolder folder;
  const TokenCache cache(folder.path());
  EXPECT_EQ(cache.tokens("abc", CountingTokenizer(65536)).width(), 2);
  EXPECT_EQ(cache.tokens("abcd", CountingTokenizer(65537)).width(), 4);
  EXPECT_EQ(cache.tokens("abcd", CountingTokenizer(65537))[3], static_cast<std::uint32_t>('d'));
}

TEST(TokenCache, WithoutAFolderOrWithABadOneTheIdsStayInMemory) {
  const test::TemporaryFolder folder;
  const CountingTokenizer tokenizer;
  EXPECT_EQ(TokenCache().tokens("abc", tokenizer).size(), 3);
  const auto file = folder.write("file", "not a folder");
  EXPECT_EQ(TokenCache(file / "tokens").tokens("abc", tokenizer).size(), 3);
  EXPECT_EQ(tokenizer.calls, 2);
}

TEST(TokenCache, NothingIsLeftBesideTheFile) {
  const test::TemporaryFolder folder;
  const TokenCache cache(folder.path());
  cache.tokens("abc", CountingTokenizer());
  const std::filesystem::directory_iterator all(folder.path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

}  // namespace token_cache_test
}  // namespace depthgrid
