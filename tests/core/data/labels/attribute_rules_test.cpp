#include "core/data/labels/attribute_rules.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/source_folder.hpp"

namespace depthgrid {
namespace attribute_rules_test {

double score(std::string_view rule, std::string_view text) {
  return find_rule(rule)->score(sentence(text));
}

bool has_label(std::string_view text) {
  return labelled(sentence(text));
}

TEST(AttributeRules, WordsAreWhatWhiteSpaceSeparates) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(sentence(" a  bb\u00A0c\u3000.\n").words, (Words{"a", "bb", "c", "."}));
  EXPECT_EQ(sentence("x\xFFy").words, (Words{"x\xFFy"}));
  EXPECT_TRUE(sentence(" \n").words.empty());
  EXPECT_EQ(sentence(" a ").text, " a ");
}

TEST(AttributeRules, ShortSentencesAndHeadingsHaveNoLabel) {
  EXPECT_TRUE(has_label(" a b c d . "));
  EXPECT_FALSE(has_label(" a b c . "));
  EXPECT_FALSE(has_label(" = A heading of six words = \n"));
  EXPECT_TRUE(has_label(" =a is no heading . "));
  EXPECT_FALSE(has_label("\n"));
}

TEST(AttributeRules, LengthCountsTheTerminator) {
  EXPECT_EQ(score("long", "a b c d . "), 5);
  EXPECT_EQ(score("long", ""), 0);
}

TEST(AttributeRules, DigitsAreAShareOfTheWords) {
  EXPECT_EQ(score("digits", "in 1999 and mp3 , x ."), 2.0 / 7);
  EXPECT_EQ(score("digits", "\u0661 \u00B2 is no ASCII digit"), 0);
  EXPECT_EQ(score("digits", ""), 0);
}

TEST(AttributeRules, APassiveIsABeFormWithAParticipleWithinTwoWords) {
  EXPECT_EQ(score("passive", "it was built ."), 1);
  EXPECT_EQ(score("passive", "It WAS not Built ."), 1) << "in any case";
  EXPECT_EQ(score("passive", "it was not yet built ."), 0) << "the third word";
  EXPECT_EQ(score("passive", "they are called , and were told ."), 2);
  EXPECT_EQ(score("passive", "it is named founded ."), 1) << "counted once";
  EXPECT_EQ(score("passive", "has been seen , was"), 1);
  EXPECT_EQ(score("passive", "being is seen"), 2) << "of both forms the second word";
  EXPECT_EQ(score("passive", "wasp buildings made known"), 0) << "whole words";
  EXPECT_EQ(score("passive", "it was a bed ."), 1) << "as the rule says";
  EXPECT_EQ(score("passive", ""), 0);
}

TEST(AttributeRules, OfATextAsItIsWrittenFindWordsBesidePunctuation) {
  const auto raw = [](std::string_view name, std::string_view text) {
    return find_rule(name)->score(sentence(text, Terminator::Raw));
  };
  EXPECT_EQ(raw("passive", "The mill was built."), 1);
  EXPECT_EQ(raw("passive", "\"It was (fully) removed.\""), 1);
  EXPECT_EQ(raw("masculine", "They saw him."), 1);
  EXPECT_EQ(raw("masculine", "He, \"his\" own; theirs..."), 2);
  EXPECT_EQ(raw("masculine", "hers ... !"), 0);
  EXPECT_EQ(raw("long", "It was built."), 3) << "a full stop is part of its word";
  EXPECT_EQ(raw("comma", "one, two"), 0.5);
  EXPECT_EQ(score("passive", "it was ed. yes"), 0) << "where words stand apart, as they stand";
}

TEST(AttributeRules, QuotesAndCommas) {
  EXPECT_EQ(score("quote", "he said \" yes \" ."), 1);
  EXPECT_EQ(score("quote", "he said \u201cyes\u201d ."), 0);
  EXPECT_EQ(score("comma", "one , two @,@ 3,4,5 ."), 3.0 / 6);
  EXPECT_EQ(score("comma", ""), 0);
}

TEST(AttributeRules, ParenthesesCapitalsAndMasculinePronouns) {
  EXPECT_EQ(score("parenthesis", "it ( so they say ) was"), 1);
  EXPECT_EQ(score("parenthesis", "it [ so they say ) was"), 0);
  EXPECT_EQ(score("capitals", "The king of Spain 3X"), 2.0 / 5);
  EXPECT_EQ(score("capitals", ""), 0);
  EXPECT_EQ(score("masculine", "He gave the heir his hat himself ; she"), 3);
  EXPECT_EQ(score("masculine", "the history"), 0);
}

TEST(AttributeRules, AreFoundByName) {
  ASSERT_EQ(attribute_rules().size(), 8U);
  EXPECT_EQ(rule_names(), "long, digits, passive, quote, comma, parenthesis, capitals, masculine");
  for (const AttributeRule& rule : attribute_rules()) {
    EXPECT_EQ(find_rule(rule.name), &rule);
    EXPECT_FALSE(rule.meaning.empty());
  }
  EXPECT_EQ(find_rule("sentiment"), nullptr);
  EXPECT_FALSE(find_rule("long")->threshold.has_value());
  EXPECT_EQ(find_rule("digits")->threshold, 0.05);
  EXPECT_EQ(name_of(find_rule("comma")->kind), "ordinal");
  EXPECT_EQ(name_of(find_rule("passive")->kind), "binary");
}

/// A line of tests/golden/sentence_rules.tsv, whose numbers were not made by this program.
struct GoldenRow {
  double words, digit_words, passive, quote, commas, parenthesis, capitals, masculine;
  std::string text;
};

std::vector<GoldenRow> golden_rows() {
  std::vector<GoldenRow> rows;
  std::ifstream file(testing::source_folder() / "tests/golden/sentence_rules.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ") || line.empty()) continue;
    GoldenRow& row = rows.emplace_back();
    std::istringstream fields(line);
    for (double* number : {&row.words, &row.digit_words, &row.passive, &row.quote, &row.commas,
                           &row.parenthesis, &row.capitals, &row.masculine}) {
      fields >> *number;
    }
    EXPECT_TRUE(fields.good()) << line;
    fields.ignore();  // the tabulator before the sentence
    std::getline(fields, row.text);
  }
  return rows;
}

TEST(AttributeRules, GiveTheScoresOfEveryGoldenSentence) {
  constexpr std::size_t kLeast = 30;  // sentences with an attribute, and without
  const std::vector<GoldenRow> rows = golden_rows();
  EXPECT_GE(rows.size(), 420U);
  std::array<std::size_t, 7> positive{};
  for (const GoldenRow& row : rows) {
    EXPECT_EQ(score("long", row.text), row.words) << row.text;
    EXPECT_EQ(score("digits", row.text), row.digit_words / row.words) << row.text;
    EXPECT_EQ(score("passive", row.text), row.passive) << row.text;
    EXPECT_EQ(score("quote", row.text), row.quote) << row.text;
    EXPECT_EQ(score("comma", row.text), row.commas / row.words) << row.text;
    EXPECT_EQ(score("parenthesis", row.text), row.parenthesis) << row.text;
    EXPECT_EQ(score("capitals", row.text), row.capitals / row.words) << row.text;
    EXPECT_EQ(score("masculine", row.text), row.masculine) << row.text;
    const std::array<double, 7> counts = {row.digit_words, row.passive,  row.quote,    row.commas,
                                          row.parenthesis, row.capitals, row.masculine};
    for (std::size_t i = 0; i < counts.size(); ++i) positive[i] += counts[i] > 0 ? 1 : 0;
  }
  for (const std::size_t some : positive) {
    EXPECT_GE(some, kLeast) << "each rule is tried with";
    EXPECT_LE(some + kLeast, rows.size()) << "and without";
  }
}

}  // namespace attribute_rules_test
}  // namespace depthgrid
