#include "core/config/text_format.hpp"

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "sweep_files.hpp"

namespace depthgrid {
namespace text_format_test {

using std::string_literals::operator""s;

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(TextFormat, AutoGoesByTheSuffixInAnyCase) {
  for (const char* name : {"a.jsonl", "a.JSONL", "a.ndjson", "a.NdJson"}) {
    EXPECT_EQ(text_format(name, "auto"), TextFormat::Jsonl) << name;
  }
  for (const char* name : {"a.jsonlines", "a.ldjson"}) {
    EXPECT_EQ(text_format(name, "auto"), TextFormat::Jsonl) << name;
  }
  for (const char* name : {"a.bin", "a.BIN"}) {
    EXPECT_EQ(text_format(name, "auto"), TextFormat::Tokens) << name;
  }
  for (const char* name : {"a.txt", "a", "jsonl", "a.json", "a.bin.txt"}) {
    EXPECT_EQ(text_format(name, "auto"), TextFormat::Text) << name;
  }
  EXPECT_EQ(text_format("a.txt", "jsonl"), TextFormat::Jsonl);
  EXPECT_EQ(text_format("a.jsonl", "text"), TextFormat::Text);
  EXPECT_EQ(text_format("a.ids", "tokens"), TextFormat::Tokens);
}

TEST(TextFormat, PackedContentIsRefusedWithTheCommand) {
  const auto why = [](const char* name, const std::string& bytes) {
    return unreadable_content(name, "auto", bytes, false);
  };
  EXPECT_TRUE(says(why("d/a.txt.gz", "\x1f\x8b\x08"), "gzip -dc 'd/a.txt.gz' > 'd/a.txt'"));
  EXPECT_TRUE(says(why("a.jsonl.GZ", "\x1f\x8b\x08"), "> 'a.jsonl'"));
  EXPECT_TRUE(says(why("a.txt", "\x1f\x8b\x08"), "gzip -dc 'a.txt' > 'a.txt.utf8'"));
  EXPECT_TRUE(says(why("it's.zst", "\x28\xb5\x2f\xfdx"), "zstd -dc 'it'\\''s.zst'"));
  EXPECT_TRUE(says(why("a.xz", "\xfd\x37zXZ\0"s), "xz"));
  EXPECT_TRUE(says(why("a.bz2", "BZh9"), "bzip2"));
  EXPECT_TRUE(says(why("a.zip", "PK\x03\x04"), "zip"));
  EXPECT_TRUE(says(why("a.jsonl", "\x1f\x8b\x08"), "gzip"));
  EXPECT_TRUE(says(why("a.parquet", "PAR1"), "Parquet"));
}

TEST(TextFormat, OtherEncodingsAndBinaryContentAreRefused) {
  const auto why = [](const std::string& bytes, const char* word, bool any_bytes) {
    return unreadable_content("a.txt", word, bytes, any_bytes);
  };
  EXPECT_TRUE(says(why("\xff\xfeh\0"s, "auto", false), "UTF-16"));
  EXPECT_TRUE(says(why("\xfe\xff\0h"s, "auto", true), "iconv -f UTF-16 -t UTF-8 'a.txt'"));
  EXPECT_TRUE(says(why("\xff\xfe\0\0h\0\0\0"s, "auto", false), "UTF-32"));
  EXPECT_TRUE(says(why("h\0e\0"s, "auto", false), "iconv -f UTF-16LE -t UTF-8 'a.txt'"));
  EXPECT_TRUE(says(why("\0h\0e"s, "text", false), "iconv -f UTF-16BE -t UTF-8 'a.txt'"));
  EXPECT_TRUE(says(why("h\0\0\0\1\2"s, "auto", false), "byte 1 is 0"));
  EXPECT_FALSE(says(why("h\0\0\0\1\2"s, "auto", false), "iconv"));
  EXPECT_EQ(why("h\0e\0"s, "text", true), "");  // a byte-level model may read any bytes
  EXPECT_EQ(why("\xEF\xBB\xBFplain text\n", "auto", false), "");
  EXPECT_EQ(why("BZ and PK are words\n", "auto", false), "");
}

TEST(TextFormat, AJsonValueIsRefusedWithTheWayOut) {
  const auto why = [](const char* name, const char* word, const std::string& bytes) {
    return unreadable_content(name, word, bytes, false);
  };
  EXPECT_TRUE(says(why("d/a.json", "auto", " [\n{\"text\": 1}]"), "jq -c '.[]' 'd/a.json'"));
  EXPECT_TRUE(says(why("a.JSON", "auto", "{\"text\": 1}\n"), "`data.format: jsonl`"));
  EXPECT_TRUE(says(why("a.jsonl", "auto", "\xEF\xBB\xBF[{}]"), "one JSON array"));
  EXPECT_EQ(why("a.json", "text", "[1]"), "");
  EXPECT_EQ(why("a.json", "jsonl", "{\"text\": \"a\"}\n"), "");
  EXPECT_EQ(why("a.txt", "auto", "[1] is a citation"), "");
}

TEST(TextFormat, ATextThatIsJsonIsRefusedLikewise) {
  const auto why = [](const std::string& bytes) {
    return unreadable_content("a.txt", "auto", bytes, false);
  };
  EXPECT_TRUE(says(why("\n{\"text\": \"one\"}\n{\"text\": \"two\"}\n"), "`data.format: jsonl`"));
  EXPECT_TRUE(says(why("[{\"text\": \"one\"}]"), "one JSON array"));
  EXPECT_TRUE(says(why("[\n  {\n \"text\": \"one\"}]"), "one JSON array"));
  for (const char* text : {"{braces} in a text\n", "[{not json}]\n", "[1, 2]\n", "{\n", "["}) {
    EXPECT_EQ(why(text), "") << text;
  }
}

TEST(TextFormat, ArchivesAreUnpackedToTheirTexts) {
  const auto why = [](const char* name, const std::string& bytes) {
    return unreadable_content(name, "auto", bytes, true);
  };
  const std::string tar = std::string(257, '\0') + "ustar" + std::string(250, '\0');
  EXPECT_TRUE(says(why("d/a.tar", tar), "tar -xOf 'd/a.tar' > 'd/a.txt'"));
  EXPECT_TRUE(says(why("a", tar), "tar -xOf 'a' > 'a.txt'"));
  for (const char* name : {"a.tar.gz", "a.tgz", "a.TGZ"}) {
    EXPECT_TRUE(says(why(name, "\x1f\x8b\x08"), "tar -xOf '" + std::string(name) + "' > 'a.txt'"));
  }
  EXPECT_TRUE(says(why("a.lz4", "\x04\x22\x4d\x18"), "lz4 -dc"));
  EXPECT_TRUE(says(why("a.pkl", "\x80\x04\x95"), "pickle"));
}

TEST(TextFormat, ACommandOverwritesNothing) {
  const SweepFiles files;
  const auto why = [](const std::filesystem::path& file, const char* bytes) {
    return unreadable_content(file, "auto", bytes, false);
  };
  const std::filesystem::path lines = files.write("a.jsonl", "[{}]");
  EXPECT_TRUE(says(why(lines, "[{}]"), "a-2.jsonl'  and name"));
  files.write("a-2.jsonl", "");
  EXPECT_TRUE(says(why(lines, "[{}]"), "a-3.jsonl'  and name"));
  files.write("b.txt", "");
  EXPECT_TRUE(says(why(lines.parent_path() / "b.txt.gz", "\x1f\x8b\x08"), "b-2.txt'  and name"));
}

TEST(TextFormat, AMarkIsNoText) {
  EXPECT_EQ(without_mark("\xEF\xBB\xBFhi"), "hi");
  EXPECT_EQ(without_mark("hi"), "hi");
}

/// What resolving says of a sweep with these data leaves.
class OwnFiles : public ::testing::Test {
 protected:
  std::string data(const std::string& leaves) const {
    return files_.messages("name: x\ndata: {corpus: file, seq_len: 8, tokenizer: byte, " + leaves +
                           "}\n");
  }
  std::string file(const std::string& name, const std::string& content) const {
    return files_.write(name, content).string();
  }
  SweepFiles files_;
};

TEST_F(OwnFiles, EmptyAndTooShortOnesAreRefusedAtTheirLine) {
  const std::string text = file("a.txt", std::string(100, 'a'));
  const std::string empty = file("empty.txt", "");
  EXPECT_EQ(data("path: " + text), "");
  for (const char* leaf : {"valid", "test"}) {
    const std::string said = data("path: " + text + ", " + leaf + ": " + empty);
    EXPECT_TRUE(said.starts_with("2:") && says(said, "is empty")) << said;
    EXPECT_TRUE(says(data("path: " + text + ", " + leaf + ": " + file("one.txt", "a")),
                     "too short: at most 1 tokens"));
  }
  EXPECT_TRUE(says(data("path: [" + text + ", " + empty + "]"), "is empty"));
  EXPECT_TRUE(says(data("path: " + file("eight.txt", "12345678")), "at most 8 tokens, and 9"));
  EXPECT_EQ(data("path: " + file("nine.txt", "123456789")), "");
  EXPECT_TRUE(says(data("path: " + text + ", test: nowhere.txt"), "no file"));
}

TEST_F(OwnFiles, ATextOfNothingButBlanksIsRefusedAtItsLine) {
  const std::string text = file("text.txt", std::string(100, 'a'));
  const std::string mark = "\xEF\xBB\xBF";
  const std::pair<const char*, std::string> blank[] = {
      {"mark.txt", mark},
      {"lines.txt", "\n\n\n\n"},
      {"marked.txt", mark + "\n"},
      {"lines.jsonl", "\n \n\n\n"},
      {"none.jsonl", "{\"text\": \"\"}\n{\"text\": \" \"}\n"}};
  for (const auto& [name, content] : blank) {
    for (const char* leaf : {"valid", "test"}) {
      const std::string said = data("path: " + text + ", " + leaf + ": " + file(name, content));
      EXPECT_TRUE(says(said, "holds no text") && said.starts_with("2:")) << name << ": " << said;
    }
    EXPECT_TRUE(says(data("path: " + file(name, content)), "holds no text")) << name;
  }
  EXPECT_TRUE(says(data("path: " + text + ", valid: " + file("a.jsonl", "{\"text\": \"\"}\n")),
                   "holds no text"));
  const std::string wrong = file("wrong.jsonl", "{\"text\": \"one\"}\n\n{\"txt\": \"two\"}\n");
  EXPECT_TRUE(says(data("path: " + text + ", valid: " + wrong), "wrong.jsonl:3: expected a JSON"));
  const std::string few = file("few.jsonl", "{\"text\": \"aaaa\", \"more\": \"aaaaaaaaa\"}\n");
  EXPECT_TRUE(says(data("path: " + few), "too short: at most 5 tokens, and 9"));
}

TEST_F(OwnFiles, TheContentDecides) {
  EXPECT_TRUE(
      says(data("path: " + file("a.txt.gz", "\x1f\x8b\x08" + std::string(99, 'a'))), "gzip -dc"));
  EXPECT_TRUE(says(data("path: " + file("a.json", "[" + std::string(99, ' ') + "]")), "jq"));
  EXPECT_EQ(data("path: " + file("b.json", "[" + std::string(99, ' ') + "]") + ", format: text"),
            "");
}

TEST_F(OwnFiles, ATextMayHaveJsonlBesideItButNoTokens) {
  const std::string text = file("a.txt", std::string(100, 'a'));
  const std::string lines = file("v.ndjson", "{\"body\": \"aaaaaaaaa\"}\n");
  EXPECT_EQ(data("path: " + text + ", valid: " + lines + ", text_key: body"), "");
  EXPECT_TRUE(says(data("path: " + text + ", text_key: body"), "`data.text_key`"));
  const std::string ids = file("v.bin", std::string(8, '\1'));
  file("v.json", "{\"dtype\": \"uint16\", \"vocab_size\": 300}");
  for (const char* leaf : {"valid", "test"}) {
    EXPECT_TRUE(says(data("path: " + text + ", " + leaf + ": " + ids), "cannot be splits of one"))
        << leaf;
  }
}

TEST_F(OwnFiles, EqualBytesThatAreReadInOtherFormatsAreOtherTexts) {
  const std::string lines = "{\"text\": \"one of some length\"}\n" + std::string(200, '\n');
  const std::string braces = "{a text in braces}" + std::string(200, '.') + "\n";
  const std::string plain = "a text of one line" + std::string(200, '.') + "\n";
  const auto id = [&](const std::string& leaves) {
    return files_.load("name: x\ndata: {corpus: file, seq_len: 8, " + leaves + "}\n").cells[0].id;
  };
  const auto path = [&](const char* name, const std::string& bytes) {
    return "path: " + file(name, bytes);
  };
  const auto sha = [](std::string_view bytes) { return hex(sha256(bytes)); };
  EXPECT_EQ(id(path("a.NDJSON", lines)), id(path("a.jsonl", lines)));
  EXPECT_EQ(id(path("b.txt", "\xEF\xBB\xBF" + braces)), id(path("c", "\xEF\xBB\xBF" + braces)));
  EXPECT_EQ(id(path("p.txt", plain)), id(path("q.md", plain)));
  // Under a name of text, records are refused.
  for (const char* leaf : {"valid", "test"}) {
    const std::string said = data(path("p.txt", plain) + ", " + leaf + ": " + file("v.txt", lines));
    EXPECT_TRUE(said.starts_with("2:") && says(said, "one JSON object a line")) << said;
  }
  EXPECT_TRUE(says(data(path("a.txt", lines)), "`data.format: jsonl`"));
  // Bytes that their format suggests name a text as its plain digest does, as they always have.
  EXPECT_EQ(text_digest_of(file("a.jsonl", lines), "auto"), sha(lines));
  EXPECT_EQ(text_digest_of(file("p.txt", plain), "auto"), sha(plain));
  EXPECT_EQ(text_digest_of(file("a.txt", lines), "text"), sha(lines));
  EXPECT_NE(text_digest_of(file("b.txt", braces), "auto"), sha(braces));
  EXPECT_EQ(read_as("ids.bin", "auto", std::string_view("\x01\x00", 2)), "");
  EXPECT_EQ(read_as("ids.bin", "auto", "\x01\x01"), "tokens");
}

TEST_F(OwnFiles, WhatChangesTheTokensIsIdentity) {
  const std::string lines =
      file("a.jsonl", "{\"text\": \"" + std::string(200, 'a') + "\", \"body\": \"" +
                          std::string(200, 'b') + "\"}\n");
  const auto id = [&](const std::string& leaves) {
    return files_.load("name: x\ndata: {corpus: file, path: " + lines + leaves + "}\n").cells[0].id;
  };
  EXPECT_NE(id(", text_key: body"), id(""));
  EXPECT_EQ(id(", text_key: text"), id(""));  // the default: names of cells stay
  EXPECT_NE(id(", format: text"), id(""));
  EXPECT_EQ(id(", format: auto"), id(""));
  const std::string test = file("t.txt", "held out");
  EXPECT_TRUE(says(data("path: " + lines + ", test: " + test + ", test_fraction: 0.1"),
                   "`data.test_fraction`"));
}

}  // namespace text_format_test
}  // namespace depthgrid
