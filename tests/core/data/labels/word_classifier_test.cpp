// Labels told from the tokens of a sentence: what can be told is, what cannot is not, and nothing
// but the labelled sentences of an axis decides its weights.
#include "core/data/labels/word_classifier.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/labels/likelihood_auc.hpp"
#include "core/data/labels/token_ends.hpp"
#include "core/data/random_words.hpp"
#include "core/data/tokenizers/tokenizer.hpp"
#include "tests/core/data/data_test_support.hpp"
#include "tests/core/data/labels/rule_labels.hpp"

namespace depthgrid {
namespace word_classifier_test {

constexpr std::int64_t kVocabulary = 50;
constexpr std::uint32_t kTold = 10;     // tokens of either kind of sentence, from 0 and from here
constexpr std::uint32_t kNeutral = 20;  // from here tokens of all sentences
constexpr std::size_t kLength = 8;

struct ToldSentence {
  std::vector<std::uint32_t> tokens;
  std::vector<std::int8_t> flags;  // (axes)
};

struct ToldText {
  TokenStream tokens;
  SentenceLabels labels;
};

ToldText text_of_sentences(const std::vector<ToldSentence>& sentences) {
  std::vector<std::uint32_t> ids;
  SentenceLabels labels;
  labels.axes = std::ssize(sentences.front().flags);
  for (const ToldSentence& one : sentences) {
    const auto number = static_cast<std::int32_t>(labels.segments());
    ids.insert(ids.end(), one.tokens.begin(), one.tokens.end());
    labels.segment.insert(labels.segment.end(), one.tokens.size(), number);
    for (const std::int8_t flag : one.flags) {
      labels.positive.push_back(flag);
      labels.u.push_back(flag < 0 ? std::nanf("") : static_cast<float>(2 * flag - 1));
    }
  }
  return {TokenStream::from_ids(ids, kVocabulary, 0), std::move(labels)};
}

WordClassifier fit_of(const std::vector<ToldSentence>& sentences) {
  const ToldText text = text_of_sentences(sentences);
  return fit_words(text.tokens, text.labels, kVocabulary);
}

/// Sentences of which two tokens, at most, tell the label of axis 0, and none that of axis 1.
std::vector<ToldSentence> some_sentences(std::uint32_t count, std::uint64_t seed) {
  const RandomWords random(seed, "word_classifier_test");
  std::vector<ToldSentence> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t place = 0;
    const auto below = [&](std::uint64_t n) {
      return static_cast<std::uint32_t>(random.below(n, place++, i, 0));
    };
    ToldSentence one;
    for (std::size_t j = 0; j < kLength; ++j) {
      one.tokens.push_back(kNeutral + below(kVocabulary - kNeutral));
    }
    const std::uint32_t label = below(2), other = below(2);
    for (int j = 0; j < 2; ++j) {
      const std::uint32_t at = below(kLength);
      one.tokens[at] = (label == 1 ? 0 : kTold) + below(kTold);
    }
    one.flags = {static_cast<std::int8_t>(label), static_cast<std::int8_t>(other)};
    out.push_back(std::move(one));
  }
  return out;
}

/// Log-odds of each axis. @param shares  (V), summing to 1.
std::vector<double> odds_of(const WordClassifier& fit, const std::vector<double>& shares) {
  std::vector<double> out(fit.bias.begin(), fit.bias.end());
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (std::size_t v = 0; v < shares.size(); ++v) {
      out[k] += shares[v] * static_cast<double>(fit.weight[k * shares.size() + v]);
    }
  }
  return out;
}

double auc_of(const WordClassifier& fit, const std::vector<ToldSentence>& sentences,
              std::size_t axis) {
  std::vector<double> scores;
  std::vector<std::int8_t> positive;
  for (const ToldSentence& one : sentences) {
    std::vector<double> shares(kVocabulary);
    for (const std::uint32_t token : one.tokens) {
      shares[token] += 1.0 / static_cast<double>(one.tokens.size());
    }
    scores.push_back(odds_of(fit, shares).at(axis));
    positive.push_back(one.flags[axis]);
  }
  return area_under_curve(scores, positive);
}

std::vector<float> weights_of_axis(const WordClassifier& fit, std::int64_t axis) {
  const auto first = fit.weight.begin() + axis * kVocabulary;
  return {first, first + kVocabulary};
}

TEST(WordClassifier, TellsHeldOutSentencesThatDifferInTheirWordsAndNoOthers) {
  const WordClassifier fit = fit_of(some_sentences(1500, 1));
  ASSERT_EQ(fit.weight.size(), static_cast<std::size_t>(2 * kVocabulary));
  ASSERT_EQ(fit.bias.size(), 2U);
  const std::vector<ToldSentence> heldout = some_sentences(1000, 2);
  EXPECT_GT(auc_of(fit, heldout, 0), .99);
  EXPECT_NEAR(auc_of(fit, heldout, 1), .5, .09);  // five deviations
  const std::vector<float> weight = weights_of_axis(fit, 0);
  for (std::uint32_t v = 0; v < kTold; ++v) {
    EXPECT_GT(weight[v], 0) << v;
    EXPECT_LT(weight[kTold + v], 0) << v;
  }
}

/// Of sentences of one token, whose labels it tells in three of four cases, the log-odds are ±ln 3.
TEST(WordClassifier, LearnsTheOddsOfAWord) {
  const RandomWords random(5, "word_classifier_test");
  std::vector<ToldSentence> sentences;
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const std::uint32_t token = i % 2;
    const bool usual = random.below(4, 0, i, 0) < 3;
    const bool positive = (token == 0) == usual;
    sentences.push_back({{token}, {static_cast<std::int8_t>(positive ? 1 : 0)}});
  }
  const WordClassifier fit = fit_of(sentences);
  std::vector<double> first(kVocabulary), second(kVocabulary);
  first[0] = second[1] = 1;
  EXPECT_NEAR(odds_of(fit, first).at(0), std::log(3.0), .25);
  EXPECT_NEAR(odds_of(fit, second).at(0), -std::log(3.0), .25);
}

TEST(WordClassifier, IsAFunctionOfItsArguments) {
  const std::vector<ToldSentence> sentences = some_sentences(200, 3);
  const WordClassifier one = fit_of(sentences), other = fit_of(sentences);
  EXPECT_EQ(one.weight, other.weight);
  EXPECT_EQ(one.bias, other.bias);
}

TEST(WordClassifier, OfAnAxisDoesNotDependOnTheOthers) {
  const std::vector<ToldSentence> both = some_sentences(200, 3);
  std::vector<ToldSentence> alone = both;
  for (ToldSentence& one : alone) one.flags.erase(one.flags.begin());
  const WordClassifier fit = fit_of(both), own = fit_of(alone);
  EXPECT_EQ(weights_of_axis(fit, 1), own.weight);
  EXPECT_EQ(fit.bias[1], own.bias[0]);
}

TEST(WordClassifier, DoesNotSeeSentencesWithoutALabel) {
  std::vector<ToldSentence> sentences = some_sentences(200, 4);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (i % 3 == 1) sentences[i].flags = {-1, -1};
    if (i % 3 == 2) sentences[i].flags[0] = -1;
  }
  const WordClassifier before = fit_of(sentences);
  const std::vector<ToldSentence> others = some_sentences(200, 5);
  std::vector<ToldSentence> changed = sentences;
  for (std::size_t i = 1; i < changed.size(); i += 3) changed[i].tokens = others[i].tokens;
  const WordClassifier without = fit_of(changed);
  EXPECT_EQ(without.weight, before.weight);
  EXPECT_EQ(without.bias, before.bias);
  for (std::size_t i = 2; i < changed.size(); i += 3) changed[i].tokens = others[i].tokens;
  const WordClassifier after = fit_of(changed);
  EXPECT_EQ(weights_of_axis(after, 0), weights_of_axis(before, 0));
  EXPECT_EQ(after.bias[0], before.bias[0]);
  EXPECT_NE(weights_of_axis(after, 1), weights_of_axis(before, 1)) << "which has those labels";
  for (std::size_t i = 0; i < changed.size(); i += 3) changed[i].tokens = others[i].tokens;
  EXPECT_NE(weights_of_axis(fit_of(changed), 0), weights_of_axis(before, 0));
}

TEST(WordClassifier, OfAnAxisWithoutLabelsHasNoWeights) {
  std::vector<ToldSentence> sentences = some_sentences(50, 6);
  for (ToldSentence& one : sentences) one.flags[1] = -1;
  const WordClassifier fit = fit_of(sentences);
  EXPECT_EQ(weights_of_axis(fit, 1), std::vector<float>(kVocabulary));
  EXPECT_EQ(fit.bias[1], 0);
  EXPECT_NE(weights_of_axis(fit, 0), std::vector<float>(kVocabulary));
}

TEST(WordClassifier, RefusesLabelsOfAnotherText) {
  ToldText text = text_of_sentences(some_sentences(5, 7));
  text.labels.segment.pop_back();
  EXPECT_THROW(fit_words(text.tokens, text.labels, kVocabulary), Error);
}

ToldText words_under_rules(const Tokenizer& words, std::span<const Attribute> fitted,
                           std::string_view text) {
  const std::vector<std::uint32_t> ids = words.encode(text);
  const std::vector<std::int64_t> ends = token_ends("word", words, text, ids);
  const std::vector<LabelMap> maps(fitted.size(), LabelMap::Sign);
  return {TokenStream::from_ids(ids, words.vocab_size(), std::ssize(text)),
          test::label_text(fitted, text, Terminator::Spaced, ends, maps)};
}

/// AUC of each axis over the sentences of `text`, held against its labels or those of `truth`.
std::vector<double> auc_of_text(const WordClassifier& fit, const ToldText& text,
                                const SentenceLabels& truth, std::int64_t vocabulary) {
  const auto axes = static_cast<std::size_t>(truth.axes), v = static_cast<std::size_t>(vocabulary);
  std::map<std::int32_t, std::pair<double, std::vector<double>>> sums;  // tokens, weights by axis
  for (std::int64_t i = 0; i < text.tokens.size(); ++i) {
    auto& [tokens, weights] = sums[text.labels.segment[static_cast<std::size_t>(i)]];
    weights.resize(axes);
    tokens += 1;
    for (std::size_t k = 0; k < axes; ++k) {
      weights[k] += static_cast<double>(fit.weight[k * v + text.tokens[i]]);
    }
  }
  std::vector<double> out;
  for (std::size_t k = 0; k < axes; ++k) {
    std::vector<double> scores;
    std::vector<std::int8_t> positive;
    for (const auto& [segment, sum] : sums) {
      const std::int8_t flag = truth.positive[static_cast<std::size_t>(segment) * axes + k];
      if (flag < 0) continue;
      scores.push_back(sum.second[k] / sum.first);
      positive.push_back(flag);
    }
    out.push_back(area_under_curve(scores, positive));
  }
  return out;
}

/// The second study's axes by words alone: a bag of words told them with .946, .935 and .909.
TEST(WordClassifier, TellsLongDigitsAndPassiveOfHeldOutWikiText2) {
  const auto folder = test::corpus_at_hand("wikitext-2", {"train.txt", "valid.txt"});
  if (!folder) GTEST_SKIP() << "wikitext-2 is not at hand";
  const std::string train = read_corpus_file(*folder / "train.txt");
  const std::string valid = read_corpus_file(*folder / "valid.txt");
  const std::vector<std::string> names = {"long", "digits", "passive"};
  const auto fitted = test::fit_attributes(names, train, Terminator::Spaced);
  const auto words =
      make_tokenizer({.kind = "word", .word_vocab_size = 30'000, .folder = {}}, train);
  const ToldText told = words_under_rules(*words, fitted, train);
  const ToldText heldout = words_under_rules(*words, fitted, valid);
  const std::int64_t vocabulary = words->vocab_size();
  const WordClassifier fit = fit_words(told.tokens, told.labels, vocabulary);
  const std::vector<double> auc = auc_of_text(fit, heldout, heldout.labels, vocabulary);
  const std::vector<double> by_chance =
      auc_of_text(fit, heldout, shuffled(heldout.labels, 1), vocabulary);
  for (std::size_t k = 0; k < names.size(); ++k) {
    RecordProperty(names[k], std::to_string(auc[k]));
    EXPECT_GT(auc[k], .90) << names[k];
    EXPECT_NEAR(by_chance[k], .5, .03) << names[k];
  }
}

}  // namespace word_classifier_test
}  // namespace depthgrid
