#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>

#include "core/config/schema.hpp"

namespace depthgrid {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Builders of table rows; the tables are constants of the program.
constexpr FusionPart fusion_of(LeafClass leaf_class) {
  if (leaf_class == LeafClass::PerCellUnion) return FusionPart::Alternative;
  return leaf_class == LeafClass::Structural || leaf_class == LeafClass::Observation
             ? FusionPart::Whole
             : FusionPart::Nothing;
}

constexpr Leaf make_row(std::string_view path, ValueKind kind, std::string_view unit,
                        std::string_view default_text, LeafClass leaf_class, std::string_view doc) {
  return {path,  kind,       -kUnlimited, kUnlimited, false,
          false, "",         false,       unit,       default_text,
          "",    leaf_class, doc,         "",         fusion_of(leaf_class),
          ""};
}

constexpr Leaf integer(std::string_view path, double min, double max, std::string_view unit,
                       std::string_view default_text, LeafClass leaf_class, std::string_view doc) {
  Leaf leaf = make_row(path, ValueKind::Int, unit, default_text, leaf_class, doc);
  leaf.min = min;
  leaf.max = max;
  return leaf;
}

constexpr Leaf real(std::string_view path, double min, double max, std::string_view unit,
                    std::string_view default_text, LeafClass leaf_class, std::string_view doc) {
  Leaf leaf = make_row(path, ValueKind::Real, unit, default_text, leaf_class, doc);
  leaf.min = min;
  leaf.max = max;
  return leaf;
}

constexpr Leaf flag(std::string_view path, std::string_view default_text, LeafClass leaf_class,
                    std::string_view doc) {
  return make_row(path, ValueKind::Bool, "–", default_text, leaf_class, doc);
}

constexpr Leaf word(std::string_view path, std::string_view words, std::string_view default_text,
                    LeafClass leaf_class, std::string_view doc, ValueKind kind = ValueKind::Word) {
  Leaf leaf = make_row(path, kind, "–", default_text, leaf_class, doc);
  leaf.words = words;
  return leaf;
}

/// A list of numbers, each between `min` and `max`.
constexpr Leaf ranged_list(std::string_view path, double min, double max, std::string_view unit,
                           std::string_view default_text, LeafClass leaf_class,
                           std::string_view doc) {
  Leaf leaf = make_row(path, ValueKind::RealList, unit, default_text, leaf_class, doc);
  leaf.min = min;
  leaf.max = max;
  return leaf;
}

constexpr Leaf text(std::string_view path, std::string_view default_text, std::string_view doc,
                    ValueKind kind = ValueKind::Text) {
  return make_row(path, kind, "–", default_text, LeafClass::Execution, doc);
}

/// A text that is part of a cell's identity.
constexpr Leaf structural(Leaf leaf) {
  leaf.leaf_class = LeafClass::Structural;
  leaf.fusion = fusion_of(leaf.leaf_class);
  return leaf;
}

/// Its texts are paths.
constexpr Leaf file_leaf(Leaf leaf) {
  leaf.names_file = true;
  return leaf;
}

/// Null is the default; `derived` describes its meaning.
constexpr Leaf or_null(Leaf leaf, std::string_view derived) {
  leaf.nullable = true;
  leaf.default_text = "null";
  leaf.derived = derived;
  return leaf;
}

/// Null is allowed, whatever the default.
constexpr Leaf null_means(Leaf leaf, std::string_view meaning) {
  leaf.nullable = true;
  leaf.derived = meaning;
  return leaf;
}

constexpr Leaf or_words(Leaf leaf, std::string_view words) {
  leaf.words = words;
  return leaf;
}

/// The lower bound itself is excluded.
constexpr Leaf above(Leaf leaf) {
  leaf.open_min = true;
  return leaf;
}

/// The upper bound itself is excluded.
constexpr Leaf below(Leaf leaf) {
  leaf.open_max = true;
  return leaf;
}

constexpr Leaf read(Leaf leaf, std::string_view condition) {
  leaf.read_when = condition;
  return leaf;
}

/// Overrides the fusion rule of its class.
constexpr Leaf fused(Leaf leaf, FusionPart part, std::string_view condition = "") {
  leaf.fusion = part;
  leaf.fused_when = condition;
  return leaf;
}

/// A text concatenated at compile time; literals and constants only.
class FixedText {
 public:
  constexpr FixedText(std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) *this += part;
  }
  constexpr FixedText& operator+=(std::string_view more) {
    for (const char letter : more) letters_.at(size_++) = letter;
    return *this;
  }
  constexpr operator std::string_view() const { return {letters_.data(), size_}; }

 private:
  std::array<char, 512> letters_{};
  std::size_t size_ = 0;
};

/// "a & x or b & x" of "a or b" and "x": conditions have no parentheses.
constexpr FixedText with_each(std::string_view alternatives, std::string_view term) {
  constexpr std::string_view kOr = " or ";
  FixedText out{};
  for (;;) {
    const std::size_t end = alternatives.find(kOr);
    out += alternatives.substr(0, end);
    out += " & ";
    out += term;
    if (end == std::string_view::npos) return out;
    out += kOr;
    alternatives.remove_prefix(end + kOr.size());
  }
}

// Conditions shared by several parts of the table.
inline constexpr std::string_view kFlow = "model.family=hybrid_ode";
inline constexpr std::string_view kSsm = "model.mixer=ssm";
inline constexpr std::string_view kTdt = "model.family=tdt";
inline constexpr std::string_view kMod = "model.family=mod";
inline constexpr std::string_view kGated =
    "model.family|model.field.kind=time_indexed & model.modulation.gate!=constant";

/// One part of the table and of the documentation.
struct SchemaSection {
  std::string_view title;
  std::span<const Leaf> leaves;
  std::string_view read_when = {};  // of leaves without a condition of their own
};

/// All parts, in the order of schema().
std::span<const SchemaSection> schema_sections();

std::span<const SchemaSection> model_sections();
std::span<const SchemaSection> flow_sections();
std::span<const SchemaSection> control_sections();
std::span<const SchemaSection> routing_sections();
std::span<const SchemaSection> data_sections();
std::span<const SchemaSection> train_sections();
std::span<const SchemaSection> regulariser_sections();
std::span<const SchemaSection> run_sections();
std::span<const SchemaSection> probe_sections();

}  // namespace depthgrid
