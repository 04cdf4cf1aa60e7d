#include "core/data/corpus.hpp"

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/self_corpus.hpp"
#include "core/data/text_splits.hpp"
#include "data_test_support.hpp"

namespace depthgrid {
namespace corpus_test {

std::string lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(TextSplits, CutsTheLastLinesAtALineStart) {
  const std::string text = lines(0, 100);
  const TextCut cut = cut_tail(text, 0.02, text);
  EXPECT_EQ(cut.head, lines(0, 98));
  EXPECT_EQ(cut.tail, lines(98, 100));
}

TEST(TextSplits, AnUnfinishedLastLineCounts) {
  EXPECT_EQ(count_lines("a\nb"), 2U);
  EXPECT_EQ(count_lines("a\nb\n"), 2U);
  EXPECT_EQ(count_lines(""), 0U);
  EXPECT_EQ(cut_tail("a\nb", 0.5, "a\nb").tail, "b");
}

TEST(TextSplits, TakesOneLineAtLeastButNeverAll) {
  EXPECT_EQ(cut_tail("a\nb\nc\n", 0.02, "a\nb\nc\n").tail, "c\n");
  EXPECT_EQ(cut_tail("a\nb\nc\n", 0.99, "a\nb\nc\n").head, "a\n");
  EXPECT_EQ(cut_tail("a\nb\nc\n", 0.0, "a\nb\nc\n").tail, "");
  EXPECT_EQ(cut_tail("\n\n\n", 0.9, "\n\n\n").tail, "\n\n");
}

TEST(TextSplits, ATextWithoutLinesIsCutAtAWord) {
  std::string words;
  for (int i = 0; i < 1000; ++i) words += "word" + std::to_string(1000 + i) + " ";
  const TextCut cut = cut_tail(words, 0.02, words);
  EXPECT_EQ(cut.tail.substr(0, 9), "word1980 ");
  EXPECT_EQ(cut.tail.size(), 180U);                       // of 9,000
  const TextCut again = cut_tail(cut.head, 0.02, words);  // the same share, though less is left
  EXPECT_EQ(again.tail.size(), 180U);
  EXPECT_EQ(std::string(again.head) + std::string(again.tail) + std::string(cut.tail), words);
}

TEST(TextSplits, ATitleAndOneLongLineAreNotCutBetween) {
  std::string text = "A title\n";
  for (int i = 0; i < 500; ++i) text += "word ";
  const TextCut cut = cut_tail(text, 0.1, text);
  EXPECT_GT(cut.tail.size(), 240U);
  EXPECT_LT(cut.tail.size(), 260U);
}

TEST(TextSplits, WithoutWhiteSpaceTheCutIsBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\xE6\x96\x87";  // three bytes
  for (const double share : {0.02, 0.0201, 0.0204}) {
    const TextCut cut = cut_tail(text, share, text);
    EXPECT_EQ(cut.tail.size() % 3, 0U);
    EXPECT_GE(cut.tail.size(), 60U);
    EXPECT_LE(cut.tail.size(), 63U);
  }
}

TEST(OneText, IsCutIntoFourByTheSharesThatAreAskedFor) {
  const test::TemporaryFolder folder;
  DataOptions options;
  options.corpus = "file";
  options.paths = {folder.write("text.txt", lines(0, 100))};
  options.dev_fraction = 0.1;
  options.valid_fraction = 0.2;
  options.test_fraction = 0.3;
  const Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train), lines(0, 40));
  EXPECT_EQ(corpus.text(Split::Dev), lines(40, 50));
  EXPECT_EQ(corpus.text(Split::Valid), lines(50, 70));
  EXPECT_EQ(corpus.text(Split::Test), lines(70, 100));
}

TEST(OneText, ValidAndTestMayBeTextsOfTheirOwn) {
  const test::TemporaryFolder folder;
  DataOptions options;
  options.corpus = "file";
  options.paths = {folder.write("text.txt", lines(0, 100))};
  options.valid = folder.write("valid.txt", lines(500, 507));
  options.test = folder.write("test.txt", lines(600, 603));
  options.test_fraction = 0.3;  // not used
  const Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train), lines(0, 98));
  EXPECT_EQ(corpus.text(Split::Dev), lines(98, 100));
  EXPECT_EQ(corpus.text(Split::Valid), lines(500, 507));
  EXPECT_EQ(corpus.text(Split::Test), lines(600, 603));
  EXPECT_EQ(corpus.files.size(), 2U);  // its digest counts, that of test is apart
  EXPECT_EQ(corpus.test_sha256.size(), 64U);
}

TEST(Corpus, JoinPublished2DropsBlankLinesAndDoublesNewlines) {
  EXPECT_EQ(join_published_2("a\n \n\nb\n\xC2\xA0\nc"), "a\n\nb\n\nc");
  EXPECT_EQ(join_published_2(" a \nb\n"), " a \n\nb\n");
}

TEST(Corpus, WikiText2KeepsItsPublishedValidSplit) {
  const test::TemporaryFolder folder;
  folder.write("train.txt", lines(0, 100));
  folder.write("valid.txt", lines(200, 210));
  DataOptions options;
  options.paths = {folder.path()};
  const Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train), lines(0, 98));
  EXPECT_EQ(corpus.text(Split::Dev), lines(98, 100));
  EXPECT_EQ(corpus.text(Split::Valid), lines(200, 210));
  EXPECT_EQ(corpus.text(Split::Test), "");
  ASSERT_EQ(corpus.files.size(), 2U);
  EXPECT_EQ(corpus.files[0].sha256, hex(sha256(lines(0, 100))));
  EXPECT_EQ(corpus.sha256,
            hex(sha256(corpus.files[0].sha256 + "\n" + corpus.files[1].sha256 + "\n")));
}

TEST(Corpus, ThePublishedSplitTrainsOnAllOfTrain) {
  const test::TemporaryFolder folder;
  folder.write("train.txt", lines(0, 100));
  folder.write("valid.txt", lines(200, 210));
  DataOptions options;
  options.paths = {folder.path()};
  options.published_split = true;
  const Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train), lines(0, 100));
  EXPECT_EQ(corpus.text(Split::Dev), "");
}

TEST(Corpus, OneTextIsCutIntoTrainDevAndValidInThisOrder) {
  const test::TemporaryFolder folder;
  DataOptions options;
  options.corpus = "file";
  options.paths = {folder.write("a.txt", lines(0, 99)), folder.write("b.txt", "line 99")};
  const Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train), lines(0, 96));
  EXPECT_EQ(corpus.text(Split::Dev), lines(96, 98));
  EXPECT_EQ(corpus.text(Split::Valid), lines(98, 100));
  options.published_split = true;
  EXPECT_EQ(read_corpus(options, nullptr, true).text(Split::Train), lines(0, 98));
}

TEST(Corpus, JsonlGivesTheNamedField) {
  const test::TemporaryFolder folder;
  DataOptions options;
  options.corpus = "file";
  options.text_key = "body";
  options.dev_fraction = 0;
  options.paths = {folder.write("a.jsonl", "{\"body\": \"one\"}\n\n{\"body\": \"tw\\u00f6\"}\n")};
  const Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train) + corpus.text(Split::Valid), "one\ntwö\n");
  options.text_key = "text";
  const std::string message =
      test::message_of<UserError>([&] { read_corpus(options, nullptr, true); });
  EXPECT_NE(message.find("a.jsonl:1"), std::string::npos) << message;
  EXPECT_NE(message.find("'text'"), std::string::npos) << message;
}

/// A text of the user's own, all of which is trained on but one line for valid.
DataOptions own_text(const test::TemporaryFolder& folder) {
  DataOptions options;
  options.corpus = "file";
  options.dev_fraction = 0;
  options.paths = {folder.write("a.txt", lines(0, 100))};
  return options;
}

TEST(Corpus, EachFileIsReadInItsOwnFormat) {
  const test::TemporaryFolder folder;
  DataOptions options = own_text(folder);
  options.valid = folder.write("v.NDJSON", "{\"text\": \"held out\"}\n");
  options.test = folder.write("t.txt", "\xEF\xBB\xBFtest\n");
  Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train), lines(0, 100));
  EXPECT_EQ(corpus.text(Split::Valid), "held out\n");
  EXPECT_EQ(corpus.text(Split::Test), "test\n");  // the mark is no text
  options.valid = folder.write("v.txt", "{\"text\": \"raw\"}\n");
  options.test.clear();
  EXPECT_THROW(read_corpus(options, nullptr, true), UserError) << "records, or a text?";
  options.format = "text";
  EXPECT_EQ(read_corpus(options, nullptr, true).text(Split::Valid), "{\"text\": \"raw\"}\n");
  options.format = "jsonl";
  options.paths = {folder.write("b.txt", "{\"text\": \"b\"}\n")};
  corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Train), "b\n");
  EXPECT_EQ(corpus.text(Split::Valid), "raw\n");
}

TEST(Corpus, ASplitThatIsGivenIsNeverReplacedByAShare) {
  const test::TemporaryFolder folder;
  const auto said = [&](const DataOptions& options) {
    return test::message_of<UserError>([&] { read_corpus(options, nullptr, true); });
  };
  for (const char* text : {"", "\xEF\xBB\xBF"}) {
    DataOptions options = own_text(folder);
    options.valid = folder.write("v.txt", text);
    EXPECT_NE(said(options).find("data.valid: '"), std::string::npos) << said(options);
    options.valid.clear();
    options.test = folder.write("t.txt", text);
    EXPECT_NE(said(options).find("data.test: '"), std::string::npos) << said(options);
  }
  DataOptions options = own_text(folder);
  options.valid = folder.write("v.jsonl", "\n\n");
  EXPECT_NE(said(options).find("holds no text"), std::string::npos) << said(options);
  options.valid = folder.write("v.txt", "\n \n");
  options.join_published_2 = true;  // drops blank lines
  EXPECT_NE(said(options).find("holds no text"), std::string::npos) << said(options);
}

TEST(Corpus, AFileOfANamedOneHoldsSomeText) {
  const test::TemporaryFolder folder;
  DataOptions options;
  options.corpus = "wikitext-2";
  options.paths = {folder.path()};
  folder.write("train.txt", lines(0, 100));
  for (const char* text : {"", "\n \n"}) {
    folder.write("valid.txt", text);
    const std::string said =
        test::message_of<UserError>([&] { read_corpus(options, nullptr, true); });
    EXPECT_NE(said.find("valid.txt' holds no text"), std::string::npos) << said;
  }
}

TEST(Corpus, ContentThatIsNoTextIsRefused) {
  const test::TemporaryFolder folder;
  DataOptions options = own_text(folder);
  options.valid = folder.write("v.txt.gz", "\x1f\x8b\x08 packed");
  const auto said = [&] {
    return test::message_of<UserError>([&] { read_corpus(options, nullptr, false); });
  };
  EXPECT_NE(said().find("data.valid: '"), std::string::npos) << said();
  EXPECT_NE(said().find("gzip -dc"), std::string::npos) << said();
  options.valid = folder.write("v.txt", std::string(100000, 'a') + std::string(1, '\0'));
  EXPECT_NE(said().find("byte 100000 is 0"), std::string::npos) << said();
  options.format = "text";
  EXPECT_EQ(read_corpus(options, nullptr, false).text(Split::Valid).size(), 100001U);
}

TEST(Corpus, TheUsersTestTextHasItsOwnDigest) {
  const test::TemporaryFolder folder;
  DataOptions options;
  options.corpus = "tiny-shakespeare";
  folder.write("input.txt", lines(0, 100));
  options.paths = {folder.path()};
  options.test = folder.write("held_out.txt", "held out\n");
  const Corpus corpus = read_corpus(options, nullptr, true);
  EXPECT_EQ(corpus.text(Split::Test), "held out\n");
  EXPECT_EQ(corpus.test_sha256, hex(sha256("held out\n")));
  EXPECT_EQ(corpus.sha256, hex(sha256(lines(0, 100))));
}

TEST(Corpus, BytesThatAreNotUtf8AreRefusedOnlyWhereUtf8IsNeeded) {
  const test::TemporaryFolder folder;
  DataOptions options;
  options.corpus = "file";
  options.paths = {folder.write("latin.txt", "caf\xE9\nx\n")};
  EXPECT_NE(test::message_of<UserError>([&] {
              read_corpus(options, nullptr, true);
            }).find("latin.txt: not UTF-8: byte 0xe9 at offset 3"),
            std::string::npos);
  EXPECT_NO_THROW(read_corpus(options, nullptr, false));
}

TEST(Corpus, AMissingCorpusListsWhereItLookedAndHowToGetIt) {
  const test::TemporaryFolder folder;
  const test::ScopedVariable root("DEPTHGRID_DATA", folder.path().c_str());
  folder.write("wikitext-2/train.txt", "x\n");
  DataOptions options;
  try {
    read_corpus(options, nullptr, true);
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), ExitCode::NoInput);
    EXPECT_NE(message.find((folder.path() / "wikitext-2").string()), std::string::npos) << message;
    EXPECT_NE(message.find("no valid.txt"), std::string::npos) << message;
    EXPECT_NE(message.find("data/wikitext-2"), std::string::npos) << message;
    EXPECT_NE(message.find("scripts/fetch_data.sh wikitext-2"), std::string::npos) << message;
  }
}

TEST(Corpus, AGivenFolderIsTheOnlyPlaceLookedAt) {
  const test::TemporaryFolder folder;
  folder.write("root/tiny-shakespeare/input.txt", lines(0, 10));
  const std::string root_path = (folder.path() / "root").string();
  const test::ScopedVariable root("DEPTHGRID_DATA", root_path.c_str());
  DataOptions options;
  options.corpus = "tiny-shakespeare";
  EXPECT_NO_THROW(read_corpus(options, nullptr, true));
  options.paths = {folder.path() / "elsewhere"};
  const std::string message =
      test::message_of<UserError>([&] { read_corpus(options, nullptr, true); });
  EXPECT_NE(message.find("elsewhere"), std::string::npos) << message;
  EXPECT_EQ(message.find("root/tiny"), std::string::npos) << message;
}

TEST(Corpus, AnUnknownNameListsTheKnown) {
  DataOptions options;
  options.corpus = "wikitext-3";
  EXPECT_NE(test::message_of<UserError>([&] {
              read_corpus(options, nullptr, true);
            }).find("known: wikitext-2, tiny-shakespeare"),
            std::string::npos);
}

TEST(SelfCorpus, ReadsTextFilesInByteOrderAndLeavesOutWhatIsMade) {
  const test::TemporaryFolder folder;
  folder.write("README.md", "read me");
  folder.write("core/data/a.cpp", "int a;\n");
  folder.write("core/Z.hpp", "int z;\n");
  folder.write("build/made.cpp", "no\n");
  folder.write("data/wikitext-2/train.txt", "no\n");
  folder.write("results/x/sweep.yaml", "no\n");
  folder.write(".git/config.txt", "no\n");
  folder.write("picture.png", "no\n");
  EXPECT_EQ(self_text(folder.path()), "read me\nint z;\nint a;\n");
}

TEST(SelfCorpus, AFrozenTextIsUsedInsteadOfTheSources) {
  DataOptions options;
  options.corpus = "self";
  const std::string frozen = lines(0, 100);
  const Corpus corpus = read_corpus(options, &frozen, true);
  EXPECT_EQ(corpus.text(Split::Train), lines(0, 96));
  EXPECT_EQ(corpus.sha256, hex(sha256(frozen)));
}

TEST(SelfCorpus, ThisCheckoutIsACorpus) {
  const std::string text = load_self_text();
  EXPECT_GT(text.size(), 100'000U);
  EXPECT_NE(text.find("class MarkovChain"), std::string::npos);
  EXPECT_EQ(text, load_self_text());
}

TEST(WikiText2, HasTheSizesOfTheFirstStudy) {
  const auto folder = test::corpus_at_hand("wikitext-2", {"train.txt", "valid.txt"});
  if (!folder) GTEST_SKIP() << "wikitext-2 is not at hand";
  DataOptions options;
  options.paths = {*folder};
  options.published_split = true;
  const Corpus corpus = read_corpus(options, nullptr, true);
  if (corpus.variant.empty()) GTEST_SKIP() << "another WikiText-2 text (" << corpus.sha256 << ")";
  EXPECT_EQ(corpus.text(Split::Train).size(), 10'827'302U);
  EXPECT_EQ(corpus.text(Split::Valid).size(), 1'124'390U);
  options.published_split = false;
  const Corpus standard = read_corpus(options, nullptr, true);
  EXPECT_EQ(standard.text(Split::Train) + standard.text(Split::Dev), corpus.text(Split::Train));
  EXPECT_EQ(count_lines(standard.text(Split::Dev)), count_lines(corpus.text(Split::Train)) / 50);
}

}  // namespace corpus_test
}  // namespace depthgrid
