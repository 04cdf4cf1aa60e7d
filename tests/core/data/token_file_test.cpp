#include "core/data/token_file.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "data_test_support.hpp"

namespace depthgrid {
namespace token_file_test {

TEST(TokenFile, ReadsLittleEndianIdsOfBothWidths) {
  const test::TemporaryFolder folder;
  const auto bin = folder.write("a.bin", std::string("\x01\x00\x02\x01\xFF\xFF\x00\x00", 8));
  folder.write("a.json",
               R"({"dtype": "uint16", "vocab_size": 65536, "tokenizer": "gpt2", "bytes": 9})");
  const TokenFile narrow = read_token_file(bin);
  ASSERT_EQ(narrow.tokens.size(), 4);
  EXPECT_EQ(narrow.tokens[1], 258U);
  EXPECT_EQ(narrow.tokens[2], 65535U);
  EXPECT_EQ(narrow.tokens.bytes(), 9);
  EXPECT_EQ(narrow.tokenizer, "gpt2");
  folder.write("a.json", R"({"dtype": "uint32", "vocab_size": 17000000})");
  const TokenFile wide = read_token_file(bin);
  ASSERT_EQ(wide.tokens.size(), 2);
  EXPECT_EQ(wide.tokens[0], 0x01020001U);
  EXPECT_NE(wide.source.sha256, narrow.source.sha256);
}

TEST(TokenFile, WrongSideCarsAndDataAreNamed) {
  const test::TemporaryFolder folder;
  const auto bin = folder.write("a.bin", std::string("\x01\x00\x09\x00", 4));
  const auto message = [&](const std::string& json) {
    folder.write("a.json", json);
    return test::message_of<UserError>([&] { read_token_file(bin); });
  };
  EXPECT_NE(message("[]").find("a.json: is not a JSON object"), std::string::npos);
  EXPECT_NE(message(R"({"dtype": "int8", "vocab_size": 4})").find("'dtype'"), std::string::npos);
  EXPECT_NE(message(R"({"dtype": "uint16"})").find("'vocab_size'"), std::string::npos);
  EXPECT_NE(message(R"({"dtype": "uint16", "vocab_size": 9})").find("id 9 is not below"),
            std::string::npos);
  EXPECT_NE(message(R"({"dtype": "uint16", "vocab_size": 10, "tokens": 3})").find("holds 2 ids"),
            std::string::npos);
  folder.write("a.bin", "odd");
  EXPECT_NE(message(R"({"dtype": "uint16", "vocab_size": 10})").find("3 bytes"), std::string::npos);
  std::filesystem::remove(folder.path() / "a.json");
  EXPECT_THROW(read_token_file(bin), UserError);
}

}  // namespace token_file_test
}  // namespace depthgrid
