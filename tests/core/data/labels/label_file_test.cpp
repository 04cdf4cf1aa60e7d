#include "core/data/labels/label_file.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "tests/core/data/data_test_support.hpp"

namespace depthgrid {
namespace label_file_test {

const std::vector<std::string> kNames = {"formality", "toxicity"};

LabelFile read(const std::string& lines) {
  const test::TemporaryFolder folder;
  return read_label_file(folder.write("labels.jsonl", lines), kNames);
}

std::string refusal(const std::string& lines) {
  return test::message_of<UserError>([&] { read(lines); });
}

bool tells(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST(LabelFile, LabelsOfADocumentAreOneSpanOverAllOfIt) {
  const LabelFile file = read("{\"text\": \"Caf\u00e9.\", \"u\": {\"toxicity\": -0.25}}\n");
  ASSERT_EQ(file.documents.size(), 1U);
  EXPECT_EQ(file.documents[0].text, "Caf\u00e9.");
  ASSERT_EQ(file.documents[0].spans.size(), 1U);
  const LabelledSpan& span = file.documents[0].spans[0];
  EXPECT_EQ(span.begin, 0);
  EXPECT_EQ(span.end, 6) << "bytes, not characters";
  ASSERT_EQ(span.u.size(), 2U);
  EXPECT_TRUE(std::isnan(span.u[0]));
  EXPECT_EQ(span.u[1], -0.25);
}

TEST(LabelFile, SpansComeSortedAndTheirEndsAreNotInThem) {
  const LabelFile file = read(
      "{\"text\": \"N\u00e9. Oui.\", \"spans\": [{\"begin\": 4, \"end\": 9, \"u\": {\"formality\": "
      "1, \"toxicity\": -1}}, {\"begin\": 0, \"end\": 4, \"u\": {\"formality\": 0.5}}]}\n");
  ASSERT_EQ(file.documents.size(), 1U);
  const auto& [text, spans] = file.documents[0];
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(text.substr(0, 4), "N\u00e9.");
  EXPECT_EQ(spans[0].begin, 0);
  EXPECT_EQ(spans[0].end, 4);
  EXPECT_EQ(spans[0].u[0], 0.5);
  EXPECT_TRUE(std::isnan(spans[0].u[1]));
  EXPECT_EQ(spans[1].begin, 4);
  EXPECT_EQ(spans[1].end, 9);
  EXPECT_EQ(spans[1].u, (std::vector<double>{1, -1}));
}

TEST(LabelFile, ADocumentMayHaveNoLabelsAndALineMayBeBlank) {
  const LabelFile file =
      read("\xEF\xBB\xBF{\"text\": \"a\"}\r\n\n{\"text\": \"b\", \"spans\": []}");
  ASSERT_EQ(file.documents.size(), 2U);
  EXPECT_TRUE(file.documents[0].spans.empty());
  EXPECT_TRUE(file.documents[1].spans.empty());
}

TEST(LabelFile, ItsDigestIsThatOfItsBytes) {
  const std::string lines = "{\"text\": \"a\"}\n";
  EXPECT_EQ(read(lines).sha256, hex(sha256(lines)));
}

struct WrongLine {
  std::string line;
  std::vector<std::string> told;  // place and value
};

TEST(LabelFile, EachMistakeIsToldWithItsLineAndValue) {
  const std::string good = "{\"text\": \"a\"}\n";
  const std::vector<WrongLine> all = {
      {R"({"u": {"formality": 1}})", {"'text'"}},
      {R"({"text": ""})", {"text", "\"\""}},
      {R"({"text": 17})", {"text", "17"}},
      {R"({"text": "ab", "u": {}, "spans": []})", {"'u'", "'spans'"}},
      {R"({"text": "ab", "label": 1})", {"'label'"}},
      {R"({"text": "ab", "u": {"formalty": 1}})", {"u", "'formalty'", "formality, toxicity"}},
      {R"({"text": "ab", "u": {"formality": 1.5}})", {"u.formality", "1.5", "[-1, 1]"}},
      {R"({"text": "ab", "u": {"formality": -1.25}})", {"u.formality", "-1.25"}},
      {R"({"text": "ab", "u": {"formality": "1"}})", {"u.formality", "\"1\""}},
      {R"({"text": "ab", "u": {"formality": null}})", {"u.formality", "null"}},
      {R"({"text": "ab", "u": {"formality": 1e999}})", {"1e999"}},
      {R"({"text": "ab", "u": {"formality": NaN}})", {"NaN"}},
      {R"({"text": "ab", "u": [1]})", {"u", "[1]"}},
      {R"({"text": "ab", "spans": {"begin": 0}})", {"spans", "{\"begin\":0}"}},
      {R"({"text": "ab", "spans": [7]})", {"spans[0]", "7"}},
      {R"({"text": "ab", "spans": [{"begin": 0, "end": 1}]})", {"spans[0]", "'u'"}},
      {R"({"text": "ab", "spans": [{"begin": 0, "u": {}}]})", {"spans[0]", "'end'"}},
      {R"({"text": "ab", "spans": [{"begin": 0, "end": 1, "u": {}, "v": 1}]})",
       {"spans[0]", "'v'"}},
      {R"({"text": "ab", "spans": [{"begin": 0.5, "end": 1, "u": {}}]})",
       {"spans[0].begin", "0.5"}},
      {R"({"text": "ab", "spans": [{"begin": -1, "end": 1, "u": {}}]})",
       {"spans[0].begin", "-1", "2"}},
      {R"({"text": "ab", "spans": [{"begin": 0, "end": 3, "u": {}}]})", {"spans[0].end", "3", "2"}},
      {R"({"text": "ab", "spans": [{"begin": 0, "end": 18446744073709551615, "u": {}}]})",
       {"spans[0].end", "18446744073709551615"}},
      {R"({"text": "ab", "spans": [{"begin": 1, "end": 1, "u": {}}]})", {"spans[0]", "1"}},
      {R"({"text": "ab", "spans": [{"begin": 2, "end": 1, "u": {}}]})", {"spans[0]", "2", "1"}},
      {"{\"text\": \"\u00e9\", \"spans\": [{\"begin\": 0, \"end\": 1, \"u\": {}}]}",
       {"spans[0].end", "1"}},
      {R"({"text": "abcd", "spans": [{"begin": 1, "end": 4, "u": {}},)"
       R"( {"begin": 0, "end": 2, "u": {}}]})",
       {"[0, 2)", "[1, 4)"}},
      {R"({"text": "abcd", "spans": [{"begin": 0, "end": 4, "u": {}},)"
       R"( {"begin": 1, "end": 2, "u": {}}, {"begin": 3, "end": 4, "u": {}}]})",
       {"[0, 4)", "[1, 2)", "[3, 4)"}},
      {R"({"text": "ab", "u": {"formality": 1, "formality": 0}})", {"'formality'"}},
      {R"({"text": "ab", "text": "cd"})", {"'text'"}},
      {R"({"text": "ab")", {}},
      {R"({"text": "ab"} x)", {}},
      {"plain words", {"plain words"}},
      {R"(["ab"])", {R"(["ab"])"}},
      {"{\"text\": \"a\xff\"}", {"0xff", "12"}},
      {R"({"text": "\ud800"})", {}},
  };
  for (const WrongLine& wrong : all) {
    const std::string said = refusal(good + wrong.line + "\n" + good);
    EXPECT_TRUE(tells(said, "labels.jsonl:2: ")) << wrong.line << "\n" << said;
    EXPECT_FALSE(tells(said, "labels.jsonl:1: ")) << said;
    EXPECT_FALSE(tells(said, "labels.jsonl:3: ")) << said;
    for (const std::string& part : wrong.told) {
      EXPECT_TRUE(tells(said, part)) << part << "\n" << said;
    }
  }
}

TEST(LabelFile, TheSameNameInTwoObjectsIsNoRepetition) {
  const LabelFile file =
      read(R"({"text": "ab", "spans": [{"begin": 0, "end": 1, "u": {"formality": 1}},)"
           R"( {"begin": 1, "end": 2, "u": {"formality": -1}}]})");
  EXPECT_EQ(file.documents.at(0).spans.size(), 2U);
}

TEST(LabelFile, AllMistakesAreToldAtOnceAndMoreThanTwentyAreCounted) {
  const std::string both = refusal(R"({"text": "ab", "u": {"formality": 2, "humour": 1}})"
                                   "\n{\"text\": 5}\n");
  EXPECT_TRUE(tells(both, "labels.jsonl:1: u.formality")) << both;
  EXPECT_TRUE(tells(both, "'humour'")) << both;
  EXPECT_TRUE(tells(both, "labels.jsonl:2: ")) << both;

  std::string many;
  for (int i = 0; i < 27; ++i) many += "{\"text\": 5}\n";
  const std::string said = refusal(many);
  EXPECT_TRUE(tells(said, "27 ")) << said;
  EXPECT_TRUE(tells(said, "labels.jsonl:20: ")) << said;
  EXPECT_FALSE(tells(said, "labels.jsonl:21: ")) << said;
  EXPECT_TRUE(tells(said, "and 7 ")) << said;
}

TEST(LabelFile, AMistakeIsBadDataAndAFileThatIsNotThereIsNoInput) {
  const test::TemporaryFolder folder;
  const auto code_for = [&](const std::filesystem::path& file) {
    try {
      read_label_file(file, kNames);
    } catch (const UserError& error) {
      return error.code();
    }
    return ExitCode::Done;
  };
  EXPECT_EQ(code_for(folder.path() / "absent.jsonl"), ExitCode::NoInput);
  EXPECT_EQ(code_for(folder.write("wrong.jsonl", "{}\n")), ExitCode::BadData);
  EXPECT_EQ(code_for(folder.write("blank.jsonl", " \n\n")), ExitCode::BadData);
  EXPECT_EQ(code_for(folder.write("empty.jsonl", "")), ExitCode::BadData);
  EXPECT_EQ(code_for(folder.write("packed.jsonl", "\x1f\x8b rest")), ExitCode::BadData);
  EXPECT_EQ(code_for(folder.write("array.jsonl", "[{\"text\": \"a\"}]")), ExitCode::BadData);
  EXPECT_EQ(code_for(folder.write("good.jsonl", "{\"text\": \"a\"}")), ExitCode::Done);
}

TEST(LabelFile, DocumentsAreFoundAtTheBeginningsOfLinesInAnyOrder) {
  const LabelFile file =
      read(R"({"text": "three four", "spans": [{"begin": 6, "end": 10, "u": {"toxicity": 0.5}}]})"
           "\n"
           R"({"text": "one\ntwo", "u": {"formality": 1}})"
           "\n"
           R"({"text": "one", "u": {"formality": -1}})"
           "\n"
           R"({"text": "absent"})"
           "\n");
  const std::string text = "none\none\ntwo\n three four\nthree four\none\n";
  const LocatedLabels all = located(text, file.documents);
  const auto said = [&](const LabelledSpan& span) {
    return text.substr(static_cast<std::size_t>(span.begin),
                       static_cast<std::size_t>(span.end - span.begin));
  };
  ASSERT_EQ(all.spans.size(), 3U);
  EXPECT_EQ(said(all.spans[0]), "one\ntwo") << "the longer document that stands there";
  EXPECT_EQ(said(all.spans[1]), "four");
  EXPECT_EQ(all.spans[1].u[1], 0.5);
  EXPECT_EQ(said(all.spans[2]), "one");
  EXPECT_EQ(all.spans[2].u[0], -1);
  EXPECT_EQ(all.found, (std::vector<bool>{true, true, true, false}));
}

TEST(LabelFile, ADocumentIsFoundOnlyWhereItEndsWithALine) {
  const LabelFile file = read(R"({"text": "one\ntwo", "u": {"formality": 1}})"
                              "\n");
  const auto spans = [&](const char* text) { return located(text, file.documents).spans.size(); };
  EXPECT_EQ(spans("one\ntwo and more\n"), 0U) << "the beginning of a longer line";
  EXPECT_EQ(spans("one\ntwo"), 1U);
  EXPECT_EQ(spans("one\ntwo\n"), 1U);
  EXPECT_EQ(spans("one\ntwo\r\n"), 1U);
}

TEST(LabelFile, ADocumentOfOneLineIsFoundWhereLinesEndWithACarriageReturnToo) {
  const LabelFile file = read("{\"text\": \"one\", \"u\": {\"formality\": 1}}\n");
  EXPECT_EQ(located("zero\r\none\r\ntwo\r\n", file.documents).spans.size(), 1U);
  EXPECT_EQ(located("zero\r\none more\r\n", file.documents).spans.size(), 0U);
  const LabelFile two = read("{\"text\": \"one\\r\\ntwo\", \"u\": {\"formality\": 1}}\n");
  EXPECT_EQ(located("one\r\ntwo\r\n", two.documents).spans.size(), 1U);
}

TEST(LabelFile, OneTextWithTwoLabelsIsRefused) {
  const LabelFile twice = read(R"({"text": "one", "u": {"formality": 1}})"
                               "\n"
                               R"({"text": "one", "u": {"formality": 1}})"
                               "\n");
  EXPECT_EQ(located("one\n", twice.documents).spans.size(), 1U);
  const LabelFile two = read(R"({"text": "one", "u": {"formality": 1}})"
                             "\n"
                             R"({"text": "one", "u": {"formality": 0}})"
                             "\n");
  EXPECT_THROW(located("one\n", two.documents), UserError);
}

}  // namespace label_file_test
}  // namespace depthgrid
