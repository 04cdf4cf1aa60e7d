#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/labels/segments.hpp"

namespace depthgrid {

/// A segment of a text and its words, as views of it.
struct Sentence {
  std::string_view text;
  std::vector<std::string_view> words;  // what is_white_space() separates, terminator included
  std::vector<std::string_view> bare;   // the same, to be looked up in lists: see sentence()
};
/// @param kind  Raw: `bare` has the words without ASCII punctuation at their ends, since there a
///              full stop or a quotation mark is part of the word beside it.
Sentence sentence(std::string_view text, Terminator kind = Terminator::Spaced);

/// Whether rules say something about it: five words or more, and no heading (first word `=`).
bool labelled(const Sentence& one);

/// Whether the size of a score counts, or only which side of the threshold it lies on.
enum class AttributeKind : std::uint8_t { Ordinal, Binary };
inline constexpr std::array<std::string_view, 2> kAttributeKindNames = {"ordinal", "binary"};
constexpr std::string_view name_of(AttributeKind kind) noexcept {
  return kAttributeKindNames[static_cast<std::size_t>(kind)];
}

/// An attribute that a sentence has by a rule. It is positive if score > threshold.
struct AttributeRule {
  std::string_view name;  // as in `model.control.names`
  AttributeKind kind;
  std::optional<double> threshold;  // none: the median of the training sentences
  double (*score)(const Sentence&);
  std::string_view meaning;  // of the score
};

/// The table of rules: `long`, `digits`, `passive`, and five spare ones.
///
/// Letters and digits are those of ASCII. Rates in other texts: second study, 5.2. `passive` counts
/// the be-forms (whole words, in any case) of whose next two words one ends in "ed" or is a listed
/// irregular participle.
std::span<const AttributeRule> attribute_rules();

/// The rule of this name; null if there is none.
const AttributeRule* find_rule(std::string_view name);

/// "long, digits, ...", for messages.
std::string rule_names();

}  // namespace depthgrid
