#include "core/data/labels/attribute_rules.hpp"

#include <algorithm>

#include "core/config/axis_labels.hpp"
#include "core/data/labels/words.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kLeastWords = 5;
constexpr std::size_t kParticipleWithin = 2;  // words after the be-form

constexpr std::string_view kBeForms[] = {"be", "is", "are", "was", "were", "been", "being", "am"};
constexpr std::string_view kMasculine[] = {"he", "his", "him", "himself"};
constexpr std::string_view kParticiples[] = {
    "given", "taken", "made",  "known",  "seen",    "found",  "held",   "built",  "written",
    "shown", "left",  "sent",  "told",   "brought", "led",    "won",    "lost",   "set",
    "put",   "born",  "drawn", "driven", "chosen",  "thrown", "broken", "beaten", "caught",
    "kept",  "laid",  "met",   "paid",   "struck",  "worn"};

std::string in_small_letters(std::string_view word) {
  std::string small(word);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

/// Without ASCII punctuation at both ends; of a word of nothing else, nothing is left.
std::string_view without_punctuation(std::string_view word) {
  const auto is_mark = [](char c) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  };
  while (!word.empty() && is_mark(word.front())) word.remove_prefix(1);
  while (!word.empty() && is_mark(word.back())) word.remove_suffix(1);
  return word;
}

bool is_one_of(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool is_be_form(std::string_view word) {
  return is_one_of(kBeForms, in_small_letters(word));
}

bool is_participle(std::string_view word) {
  const std::string small = in_small_letters(word);
  return small.ends_with("ed") || is_one_of(kParticiples, small);
}

bool has_digit(std::string_view word) {
  return std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

bool has_comma(std::string_view word) {
  return word.find(',') != std::string_view::npos;
}

/// Share of the words; of none: 0.
double share_of_words(const Sentence& s, bool (*counts)(std::string_view)) {
  if (s.words.empty()) return 0;
  return static_cast<double>(std::ranges::count_if(s.words, counts)) /
         static_cast<double>(s.words.size());
}

double word_count(const Sentence& s) {
  return static_cast<double>(s.words.size());
}

double digit_share(const Sentence& s) {
  return share_of_words(s, has_digit);
}

double passive_count(const Sentence& s) {
  const std::span<const std::string_view> words(s.bare);
  double count = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_be_form(words[i])) continue;
    const auto after = words.subspan(i + 1);
    const auto near = after.first(std::min(after.size(), kParticipleWithin));
    if (std::ranges::any_of(near, is_participle)) count += 1;
  }
  return count;
}

double quote_present(const Sentence& s) {
  return s.text.find('"') != std::string_view::npos ? 1 : 0;
}

double comma_share(const Sentence& s) {
  return share_of_words(s, has_comma);
}

double parenthesis_present(const Sentence& s) {
  return s.text.find('(') != std::string_view::npos ? 1 : 0;
}

bool is_capitalised(std::string_view word) {
  return word.front() >= 'A' && word.front() <= 'Z';
}

double capital_share(const Sentence& s) {
  return share_of_words(s, is_capitalised);
}

bool is_masculine(std::string_view word) {
  return is_one_of(kMasculine, in_small_letters(word));
}

double masculine_count(const Sentence& s) {
  return static_cast<double>(std::ranges::count_if(s.bare, is_masculine));
}

constexpr AttributeRule kRules[] = {
    {"long", AttributeKind::Ordinal, std::nullopt, word_count, "number of words"},
    {"digits", AttributeKind::Ordinal, 0.05, digit_share, "share of words with a digit"},
    {"passive", AttributeKind::Binary, 0.5, passive_count,
     "forms of be with a participle among the next two words"},
    {"quote", AttributeKind::Binary, 0.5, quote_present, "1 with a quotation mark, 0 without"},
    {"comma", AttributeKind::Ordinal, std::nullopt, comma_share, "share of words with a comma"},
    {"parenthesis", AttributeKind::Binary, 0.5, parenthesis_present,
     "1 with an opening parenthesis, 0 without"},
    {"capitals", AttributeKind::Ordinal, std::nullopt, capital_share,
     "share of words that begin with a capital"},
    {"masculine", AttributeKind::Binary, 0.5, masculine_count,
     "number of he, his, him and himself"},
};

static_assert(std::ranges::equal(kRules, kRuleAttributeNames, {}, &AttributeRule::name));

}  // namespace

Sentence sentence(std::string_view text, Terminator kind) {
  Sentence one{text, {}, {}};
  each_word_of(text, [&](std::size_t begin, std::size_t end) {
    const std::string_view word = text.substr(begin, end - begin);
    one.words.push_back(word);
    one.bare.push_back(kind == Terminator::Raw ? without_punctuation(word) : word);
  });
  return one;
}

bool labelled(const Sentence& one) {
  return one.words.size() >= kLeastWords && one.words.front() != "=";
}

std::span<const AttributeRule> attribute_rules() {
  return kRules;
}

const AttributeRule* find_rule(std::string_view name) {
  for (const AttributeRule& rule : kRules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

std::string rule_names() {
  std::string names;
  for (const AttributeRule& rule : kRules) {
    names += names.empty() ? "" : ", ";
    names += rule.name;
  }
  return names;
}

}  // namespace depthgrid
