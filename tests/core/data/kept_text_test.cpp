#include "core/data/kept_text.hpp"

#include <gtest/gtest.h>

#include "core/config/schema.hpp"
#include "core/data/dataset.hpp"
#include "data_test_support.hpp"

namespace depthgrid {
namespace kept_text_test {

constexpr const char* kAscii = "plain words, 1 2 3\n";
constexpr const char* kLatin = "caf\xc3\xa9 m\xc2\xb2\n";
constexpr const char* kWide = "\xe6\x88\xa6\xe5\xa0\xb4 caf\xc3\xa9\n";

/// Whether the ids of a text, made by a tokeniser whose vocabulary is that of `train`, keep it.
bool keeps(const char* kind, const std::string& text, const std::string& train) {
  const auto tokenizer = make_tokenizer({.kind = kind, .word_vocab_size = 50, .folder = {}}, train);
  const TokenStream ids = TokenStream::from_ids(tokenizer->encode(text), tokenizer->vocab_size(),
                                                static_cast<std::int64_t>(text.size()));
  const bool kept = keeps_text(kind, ids);
  const std::vector<std::uint32_t> all = tokenizer->encode(text);
  if (kept) {
    EXPECT_EQ(tokenizer->decode(all), text) << kind << " claims to keep it";
  }
  return kept;
}

TEST(KeptText, IsWhatDecodesToTheSameBytes) {
  for (const char* text : {kAscii, kLatin, kWide}) EXPECT_TRUE(keeps("byte", text, text));
  EXPECT_TRUE(keeps("char256", kAscii, kAscii));
  EXPECT_TRUE(keeps("char256", kLatin, kLatin));
  EXPECT_FALSE(keeps("char256", kWide, kWide));
  EXPECT_TRUE(keeps("char", kWide, kWide));
  EXPECT_FALSE(keeps("char", kWide, kLatin)) << "characters that the training text lacks";
  EXPECT_FALSE(keeps("word", kAscii, kAscii)) << "white space, even where every word is known";
}

TEST(KeptText, IsKnownOfEveryTokeniser) {
  const Leaf& leaf = schema()[leaf_index("data.tokenizer")];
  EXPECT_EQ(leaf.words, "char256 byte gpt2 char word") << "a new one needs a row in kept_text.cpp";
  const TokenStream ids = TokenStream::from_ids(std::vector<std::uint32_t>{1, 2, 3}, 300, 0);
  EXPECT_TRUE(keeps_text("gpt2", ids));
  EXPECT_FALSE(keeps_text("of another program", ids));
}

/// Bytes per token of the splits of a text of one's own; 0 = no bits per byte.
std::vector<double> bytes_per_token(const char* tokenizer, const std::string& line,
                                    const std::string& last) {
  const test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 99; ++i) text += line;
  DataOptions options;
  options.corpus = "file";
  for (int i = 0; i < 4; ++i) text += last;  // valid is a part of these
  options.paths = {folder.write("text.txt", text)};
  options.tokenizer = tokenizer;
  options.word_vocab_size = 8;
  options.seq_len = 16;
  options.model_vocab_size = 256;
  const Dataset cached = open_dataset(options, folder.path() / "tokens");
  const Dataset again = open_dataset(options, folder.path() / "tokens");
  std::vector<double> out;
  for (const Split split : {Split::Train, Split::Valid}) {
    out.push_back(cached.split(split).bytes_per_token());
    EXPECT_EQ(again.split(split).bytes_per_token(), out.back()) << "through the cache";
    EXPECT_EQ(cached.split_sha256[static_cast<std::size_t>(split)], cached.split(split).sha256());
  }
  EXPECT_TRUE(cached.split_sha256[static_cast<std::size_t>(Split::Test)].empty());
  return out;
}

TEST(KeptText, ADatasetHasBytesWhereItsTokensKeepThem) {
  using Both = std::vector<double>;  // of train and valid
  EXPECT_EQ(bytes_per_token("char256", "line\n", "line\n"), (Both{1, 1}));
  EXPECT_EQ(bytes_per_token("byte", "\xe6\x88\xa6\n", "\xe6\x88\xa6\n"), (Both{1, 1}));
  EXPECT_EQ(bytes_per_token("char256", "\xe6\x88\xa6\n", "line\n"), (Both{0, 1}));
  EXPECT_EQ(bytes_per_token("char256", "line\n", "\xe6\x88\xa6\n"), (Both{1, 0}));
  EXPECT_EQ(bytes_per_token("char", "\xe6\x88\xa6\n", "\xe6\x88\xa6\n"), (Both{2, 2}));
  EXPECT_EQ(bytes_per_token("char", "line\n", "new\n"), (Both{1, 0}));
  EXPECT_EQ(bytes_per_token("word", "one line\n", "one line\n"), (Both{0, 0}));
}

TEST(KeptText, ATokenFilesBytesCountUnlessItsTokeniserLosesThem) {
  const test::TemporaryFolder folder;
  std::string ids;
  for (int i = 0; i < 1000; ++i) ids += {static_cast<char>(i % 50), '\0'};
  DataOptions options;
  options.corpus = "file";
  options.seq_len = 16;
  options.paths = {folder.write("a.bin", ids)};
  options.valid = folder.write("v.bin", ids);
  options.model_vocab_size = 50;
  const auto bytes = [&](const char* tokenizer, const std::string& more) {
    options.tokenizer = tokenizer;
    folder.write("a.json", R"({"dtype": "uint16", "vocab_size": 50)" + more + "}");
    folder.write("v.json", R"({"dtype": "uint16", "vocab_size": 50)" + more + "}");
    return open_dataset(options).valid().bytes();
  };
  EXPECT_EQ(bytes("char256", ""), 0) << "not said";
  EXPECT_EQ(bytes("char256", R"(, "bytes": 4000)"), 4000);
  EXPECT_EQ(bytes("gpt2", R"(, "bytes": 4000, "tokenizer": "gpt2")"), 4000);
  EXPECT_EQ(bytes("word", R"(, "bytes": 4000, "tokenizer": "word")"), 0);
  EXPECT_EQ(bytes("char", R"(, "bytes": 4000, "tokenizer": "char")"), 0) << "it has ids of 0";
  EXPECT_EQ(bytes("char256", R"(, "bytes": 4000, "tokenizer": "char256")"), 4000);
  EXPECT_EQ(bytes("word", R"(, "bytes": 4000)"), 0) << "the sweep says whose ids they are";
  options.valid.clear();
  EXPECT_EQ(bytes("char256", R"(, "bytes": 4000)"), 0) << "a share";
  EXPECT_EQ(bytes("char256", R"(, "bytes": 1000)"), 20) << "a share, of ids of one byte each";
}

}  // namespace kept_text_test
}  // namespace depthgrid
