#include "core/data/labels/sentence_labels.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/labels/token_ends.hpp"
#include "core/data/tokenizers/tokenizer.hpp"
#include "tests/core/data/data_test_support.hpp"
#include "tests/core/data/labels/rule_labels.hpp"

namespace depthgrid {
namespace sentence_labels_test {

using test::fit_attributes;
using test::label_text;

using Ends = std::vector<std::int64_t>;
using Ids = std::vector<std::uint32_t>;
using Indices = std::vector<std::int32_t>;
using Maps = std::vector<LabelMap>;
using Names = std::vector<std::string>;

constexpr Terminator kSpaced = Terminator::Spaced;
constexpr const char* kText = "a b c d . a b 1 d e f . x . ";  // 5 words, 7 words, too few

TEST(SentenceLabels, AreThoseOfTheRulesByTheTrainingRanks) {
  const Names names = {"long", "digits"};
  const std::vector<Attribute> fitted = fit_attributes(names, kText, kSpaced);
  ASSERT_EQ(fitted.size(), 2U);
  EXPECT_EQ(fitted[0].name, "long");
  EXPECT_EQ(fitted[0].threshold, 6) << "the median";
  EXPECT_EQ(fitted[1].threshold, 0.05) << "the rule's own";
  EXPECT_EQ(fitted[0].ranks, RankTable(std::vector<double>{5, 7}));
  EXPECT_EQ(fitted[1].ranks, RankTable(std::vector<double>{0, 1.0 / 7}));

  const SentenceLabels labels =
      label_text(fitted, kText, kSpaced, Ends{9, 10, 28}, Maps{LabelMap::Rank, LabelMap::Sign});
  EXPECT_EQ(labels.axes, 2);
  ASSERT_EQ(labels.segments(), 3);
  EXPECT_EQ(labels.segment, (Indices{0, 0, 1}));
  EXPECT_EQ(labels.u[0], -0.5F);
  EXPECT_EQ(labels.u[1], -1.0F);
  EXPECT_EQ(labels.u[2], 0.5F);
  EXPECT_EQ(labels.u[3], 1.0F);
  EXPECT_TRUE(std::isnan(labels.u[4]) && std::isnan(labels.u[5])) << "too few words";
  EXPECT_EQ(labels.positive, (std::vector<std::int8_t>{0, 0, 1, 1, -1, -1}));
}

TEST(SentenceLabels, OfAnotherTextGoByTheTrainingText) {
  const auto fitted = fit_attributes(Names{"long"}, kText, kSpaced);
  const SentenceLabels labels =
      label_text(fitted, "a b c d e . \na b c d e f g h .", kSpaced, {}, Maps{LabelMap::Rank});
  EXPECT_TRUE(labels.segment.empty());
  ASSERT_EQ(labels.segments(), 3);  // the line break is one
  EXPECT_EQ(labels.u[0], 0.0F) << "6 words: half of the training sentences have fewer";
  EXPECT_TRUE(std::isnan(labels.u[1]));
  EXPECT_EQ(labels.u[2], 1.0F);
}

TEST(SentenceLabels, UnknownNamesAndMissingMapsAreErrors) {
  const std::string message =
      test::message_of<UserError>([] { fit_attributes(Names{"happy"}, kText, kSpaced); });
  EXPECT_NE(message.find("happy"), std::string::npos) << message;
  EXPECT_NE(message.find("passive"), std::string::npos) << message;
  const auto fitted = fit_attributes(Names{"long"}, kText, kSpaced);
  EXPECT_THROW(label_text(fitted, kText, kSpaced, {}, {}), Error);
  EXPECT_TRUE(fit_attributes({}, kText, kSpaced).empty());
}

/// Sentences of 2 to 13 words, some with a character of two bytes.
std::string long_text(int sentences) {
  constexpr const char* kWords[] = {"the",         "ship", "was",  "built",
                                    "caf\xC3\xA9", "in",   "1906", ","};
  constexpr const char* kEnds[] = {" . ", " ! ", " \n", " ? ", "\n"};
  std::string text;
  for (int i = 0; i < sentences; ++i) {
    for (int j = 0; j < 2 + i * 7 % 11; ++j) {
      text += (j == 0 ? "" : " ");
      text += kWords[(i * 5 + j) % 8];
    }
    text += kEnds[i * 3 % 5];
  }
  return text;
}

/// Segment of token i + 1 where the text behind token i is replaced by `tail`.
/// @param of  segment_of_token() or what is tried in its place.
template <class Of>
std::int32_t next_index(const std::string& kind, const Tokenizer& tokenizer,
                        const std::string& text, const Ids& ids, const Ends& ends, std::size_t i,
                        const std::string& tail, const Of& of) {
  const std::string changed = text.substr(0, static_cast<std::size_t>(ends[i])) + tail;
  Ids changed_ids(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  const Ids added = tokenizer.encode(tail);
  changed_ids.insert(changed_ids.end(), added.begin(), added.end());
  const Ends changed_ends = token_ends(kind, tokenizer, changed, changed_ids);
  return of(segments(changed, kSpaced), changed_ends).at(i + 1);
}

Indices decided_before(const std::vector<TextSegment>& parts, const Ends& ends) {
  return segment_of_token(parts, ends);
}

/// The mutant: the segment of token j is decided with token j read.
Indices decided_with_it(const std::vector<TextSegment>& parts, const Ends& ends) {
  Indices index;
  std::size_t ended = 0;
  for (const std::int64_t end : ends) {
    while (ended + 1 < parts.size() && parts[ended].end <= end) ++ended;
    index.push_back(static_cast<std::int32_t>(ended));
  }
  return index;
}

/// How often the segment of token i + 1 changes with what follows token i: at each position of 50
/// windows, with three texts.
template <class Of>
int changes(const std::string& kind, const Tokenizer& tokenizer, const Of& of) {
  constexpr std::size_t kWindows = 50, kLength = 24;
  const std::string text = long_text(60);
  const Ids ids = tokenizer.encode(text);
  const Ends ends = token_ends(kind, tokenizer, text, ids);
  const Indices index = of(segments(text, kSpaced), ends);
  int changed = 0;
  for (std::size_t window = 0; window < kWindows; ++window) {
    const std::size_t first = window * (ids.size() - kLength - 1) / (kWindows - 1);
    for (std::size_t i = first; i < first + kLength; ++i) {
      for (const char* const tail : {"\n x y . \n", " . z", " Q w e . r"}) {
        const auto other = next_index(kind, tokenizer, text, ids, ends, i, tail, of);
        changed += other != index[i + 1] ? 1 : 0;
      }
    }
  }
  return changed;
}

TEST(SentenceLabels, TheSegmentOfTheNextTokenDoesNotDependOnWhatFollows) {
  const std::string train = long_text(60) + "\n x y . z Q w e r";
  for (const char* const kind : {"byte", "char256", "char", "word"}) {
    const auto tokenizer = make_tokenizer({kind, 50, {}}, train);
    EXPECT_EQ(changes(kind, *tokenizer, decided_before), 0) << kind;
    EXPECT_GT(changes(kind, *tokenizer, decided_with_it), 0) << kind << ": the test sees nothing";
  }
}

TEST(SentenceLabels, TheSegmentOfTheNextTokenOfGpt2DoesNotEither) {
  const auto folder = test::corpus_at_hand("gpt2-bpe", {"encoder.json", "vocab.bpe"});
  if (!folder) GTEST_SKIP() << "gpt2-bpe is not at hand";
  const auto tokenizer = make_tokenizer({"gpt2", 0, *folder}, "");
  EXPECT_EQ(changes("gpt2", *tokenizer, decided_before), 0);
  EXPECT_GT(changes("gpt2", *tokenizer, decided_with_it), 0) << "the test sees nothing";
}

/// The labels of a text of many sentences, some without any.
SentenceLabels many_labels() {
  const std::string text = long_text(200);
  const auto fitted = fit_attributes(Names{"long", "passive", "comma"}, text, kSpaced);
  return label_text(fitted, text, kSpaced, Ends{1, static_cast<std::int64_t>(text.size())},
                    Maps{LabelMap::Rank, LabelMap::Sign, LabelMap::Rank});
}

/// u and flags of each labelled segment; `unlabelled` counts the others.
std::vector<std::vector<float>> rows_of(const SentenceLabels& labels, int& unlabelled) {
  const auto axes = static_cast<std::size_t>(labels.axes);
  std::vector<std::vector<float>> rows;
  for (std::size_t at = 0; at < labels.u.size(); at += axes) {
    if (std::isnan(labels.u[at])) {
      ++unlabelled;
      continue;
    }
    std::vector<float>& row = rows.emplace_back();
    for (std::size_t a = 0; a < axes; ++a) {
      row.push_back(labels.u[at + a]);
      row.push_back(labels.positive[at + a]);
    }
  }
  return rows;
}

TEST(ShuffledLabels, AreTheSameRowsInAnotherOrder) {
  const SentenceLabels labels = many_labels();
  const SentenceLabels other = shuffled(labels, 7);
  int without = 0, others_without = 0;
  auto rows = rows_of(labels, without), moved = rows_of(other, others_without);
  EXPECT_GT(rows.size(), 100U);
  EXPECT_GT(without, 5);
  EXPECT_EQ(others_without, without);
  std::size_t at_home = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) at_home += rows[i] == moved[i] ? 1 : 0;
  EXPECT_LT(at_home, rows.size() / 2);
  std::ranges::sort(rows);
  std::ranges::sort(moved);
  EXPECT_EQ(moved, rows) << "u and flags move together, and every marginal is kept";
  for (std::size_t i = 0; i < labels.u.size(); ++i) {
    EXPECT_EQ(std::isnan(other.u[i]), std::isnan(labels.u[i])) << "among the labelled only";
  }
  EXPECT_EQ(other.segment, labels.segment);
  EXPECT_EQ(other.axes, labels.axes);
}

TEST(ShuffledLabels, AreAFunctionOfTheSeed) {
  const SentenceLabels labels = many_labels();
  const auto order = [&](std::uint64_t seed) { return shuffled(labels, seed).positive; };
  EXPECT_EQ(order(7), order(7));
  EXPECT_NE(order(7), order(8));
  EXPECT_NE(order(7), order(7 + (std::uint64_t{1} << 32U)));
  EXPECT_NE(order(7), labels.positive);
}

TEST(ShuffledLabels, EveryOrderIsAboutAsLikely) {
  SentenceLabels three;
  three.axes = 1;
  three.u = {-1, 0, 1};
  three.positive = {0, 0, 1};
  std::vector<std::vector<float>> seen;
  for (std::uint64_t seed = 0; seed < 600; ++seed) seen.push_back(shuffled(three, seed).u);
  std::vector<float> order = {-1, 0, 1};
  do {
    const auto times = std::ranges::count(seen, order);
    EXPECT_GT(times, 60);  // 100 ± 9
    EXPECT_LT(times, 140);
  } while (std::ranges::next_permutation(order).found);
}

TEST(ConstantLabels, AreOneEverywhereAndKeepWhatTheSentencesAre) {
  const SentenceLabels labels = many_labels();
  const SentenceLabels ones = constant(labels);
  EXPECT_EQ(ones.u, std::vector<float>(labels.u.size(), 1.0F)) << "also where there was none";
  EXPECT_EQ(ones.positive, labels.positive);
  EXPECT_EQ(ones.segment, labels.segment);
}

/// Numbers of the second study, section 1.1, of its text.
TEST(SentenceLabels, HaveTheKnownCountsAndRatesOfWikiText2) {
  const auto folder = test::corpus_at_hand("wikitext-2", {"train.txt", "valid.txt"});
  if (!folder) GTEST_SKIP() << "wikitext-2 is not at hand";
  const std::string train = read_corpus_file(*folder / "train.txt");
  const std::string valid = read_corpus_file(*folder / "valid.txt");
  if (train.size() != 10'827'302U || valid.size() != 1'124'390U) {
    GTEST_SKIP() << "another WikiText-2 text";
  }
  const auto fitted = fit_attributes(Names{"long", "digits", "passive"}, train, kSpaced);
  const Maps maps = {LabelMap::Rank, LabelMap::Rank, LabelMap::Sign};
  const auto of = [&](const std::string& text) {
    return label_statistics(fitted, label_text(fitted, text, kSpaced, {}, maps).positive);
  };
  const LabelStatistics t = of(train), v = of(valid);
  EXPECT_EQ(t.sentences, 75'417);
  EXPECT_EQ(v.sentences, 7'912);
  EXPECT_EQ(fitted[0].ranks.size(), 75'417);
  EXPECT_EQ(fitted[0].threshold, 25);
  const std::vector<double> of_train = {0.467, 0.242, 0.308}, of_valid = {0.460, 0.261, 0.299};
  for (std::size_t a = 0; a < fitted.size(); ++a) {
    EXPECT_NEAR(t.rate[a], of_train[a], 0.002) << fitted[a].name;
    EXPECT_NEAR(v.rate[a], of_valid[a], 0.002) << fitted[a].name;
  }
  EXPECT_NEAR(v.phi[0][1], -0.02, 0.01);
  EXPECT_NEAR(v.phi[0][2], 0.10, 0.01);
  EXPECT_NEAR(v.phi[1][2], 0.01, 0.01);
  EXPECT_NEAR(v.total_entropy(), 1.87, 0.01);
}

TEST(SentenceLabels, KnowTheLastSegmentBeforeThatHasAWord) {
  const std::string text = "one two three four . \n \nfive six seven eight nine . ";
  const std::vector<std::string> names = {"long"};
  const auto attributes = fit_attributes(names, text, Terminator::Spaced);
  const std::vector<LabelMap> maps = {LabelMap::Rank};
  const SentenceLabels labels = label_text(attributes, text, Terminator::Spaced, {}, maps);
  // A sentence, two segments of white space, a sentence.
  EXPECT_EQ(labels.previous, (std::vector<std::int32_t>{-1, 0, 0, 0}));
}

}  // namespace sentence_labels_test
}  // namespace depthgrid
