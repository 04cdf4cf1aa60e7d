#include "core/config/schema/leaf_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

namespace depthgrid {
namespace {

/// Reading of a plain scalar: its number or boolean, or why it is none.
struct Scalar {
  enum class Kind : std::uint8_t { Null, Bool, Int, Real, Text, Faulty };
  Kind kind = Kind::Text;
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string hint;  // of Faulty, and of Text that looks like something else
};

bool digits_only(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// [+-] digits [. digits] [e [+-] digits], with a digit before or after the point.
bool looks_numeric(std::string_view text, bool* integral, bool* leading_zero) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  const auto exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (!power.empty() && (power[0] == '+' || power[0] == '-')) power.remove_prefix(1);
    if (!digits_only(power)) return false;
  }
  const std::string_view mantissa = text.substr(0, exponent);
  const auto point = mantissa.find('.');
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : mantissa.substr(point + 1);
  if (whole.empty() && fraction.empty()) return false;
  if (!whole.empty() && !digits_only(whole)) return false;
  if (!fraction.empty() && !digits_only(fraction)) return false;
  *integral = point == std::string_view::npos && exponent == std::string_view::npos;
  *leading_zero = whole.size() > 1 && whole[0] == '0';
  return true;
}

std::string text_hint(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view word : {"yes", "on", "y", "true"}) {
    if (lower == word) return "write true";
  }
  for (const std::string_view word : {"no", "off", "n", "false"}) {
    if (lower == word) return "write false";
  }
  for (const std::string_view word : {".inf", "+.inf", "-.inf", "inf", "-inf", ".nan", "nan"}) {
    if (lower == word) return "numbers must be finite";
  }
  if (text.find('_') != std::string_view::npos &&
      text.find_first_not_of("0123456789_+-") == std::string_view::npos) {
    std::string plain(text);
    std::erase(plain, '_');
    return "write " + plain + ", without underscores";
  }
  if (text.find_first_not_of("0123456789:") == std::string_view::npos) {
    return "numbers have no colons";
  }
  if (text.starts_with("0x") || text.starts_with("0o")) return "write it in decimal";
  return {};
}

Scalar scalar_of(const YamlNode& node) {
  Scalar out;
  if (node.kind == YamlNode::Kind::Null) {
    out.kind = Scalar::Kind::Null;
    return out;
  }
  const std::string& text = node.text;
  if (node.quoted) {
    bool integral = false;
    bool zero = false;
    if (looks_numeric(text, &integral, &zero) || text == "true" || text == "false") {
      out.hint = "remove the quotes";
    }
    return out;
  }
  if (text == "true" || text == "false") {
    out.kind = Scalar::Kind::Bool;
    out.flag = text == "true";
    return out;
  }
  bool integral = false;
  bool leading_zero = false;
  if (!looks_numeric(text, &integral, &leading_zero)) {
    out.hint = text_hint(text);
    return out;
  }
  const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  if (leading_zero) {
    out.kind = Scalar::Kind::Faulty;
    const auto first = text.find_first_not_of("+-0");
    const bool all_zero = first == std::string::npos || text[first] < '0' || text[first] > '9';
    out.hint = "'" + text + "' has a leading zero: write " + (text[0] == '-' ? "-" : "") +
               (all_zero ? "0" : "") + (first == std::string::npos ? "" : text.substr(first)) +
               " (numbers are decimal)";
    return out;
  }
  if (integral) {
    const auto result = std::from_chars(begin, end, out.integer);
    if (result.ec == std::errc::result_out_of_range) {
      out.kind = Scalar::Kind::Faulty;
      out.hint = "'" + text + "' is larger than any integer here (2^63 − 1)";
      // A real may be that large.
      if (std::from_chars(begin, end, out.real).ec == std::errc()) out.kind = Scalar::Kind::Real;
      return out;
    }
    out.kind = Scalar::Kind::Int;
    out.real = static_cast<double>(out.integer);
    return out;
  }
  const auto result = std::from_chars(begin, end, out.real);
  out.kind = Scalar::Kind::Real;
  if (result.ec == std::errc::result_out_of_range || !std::isfinite(out.real)) {
    out.kind = Scalar::Kind::Faulty;
    out.hint = "'" + text + "' is outside the range of a double";
  } else if (out.real != 0 && std::abs(out.real) < std::numeric_limits<double>::min()) {
    out.kind = Scalar::Kind::Faulty;
    out.hint = "'" + text + "' is too small to be held exactly";
  }
  return out;
}

std::string article(std::string_view noun) {
  return (noun.find_first_of("aeiou") == 0 ? "an " : "a ") + std::string(noun);
}

/// "`path`: expected an int 1…6, found 'x' (hint)".
void mismatch(const Leaf& leaf, const YamlNode& node, std::string_view hint,
              Diagnostics& diagnostics) {
  const std::string range = leaf.range();
  std::string message = "`" + std::string(leaf.path) + "`: expected " + article(leaf.type());
  if (!range.empty()) message += " (" + range + ")";
  if (leaf.nullable) message += " or null";
  message += ", found " + node.described();
  if (!hint.empty()) message += ": " + std::string(hint);
  diagnostics.error(node.place, message);
}

bool inside(const Leaf& leaf, double number) {
  return (leaf.open_min ? number > leaf.min : number >= leaf.min) &&
         (leaf.open_max ? number < leaf.max : number <= leaf.max);
}

std::optional<std::string> known_word(const Leaf& leaf, const YamlNode& node,
                                      Diagnostics& diagnostics) {
  const auto words = split_words(leaf.words);
  if (node.kind == YamlNode::Kind::Scalar) {
    if (std::find(words.begin(), words.end(), node.text) != words.end()) return node.text;
    const std::string near = nearest(node.text, words);
    mismatch(leaf, node, near.empty() ? "" : "did you mean '" + near + "'?", diagnostics);
  } else {
    mismatch(leaf, node, "", diagnostics);
  }
  return std::nullopt;
}

std::optional<Value> number_value(const Leaf& leaf, const YamlNode& node,
                                  Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::Scalar) {
    mismatch(leaf, node, node.kind == YamlNode::Kind::List ? "one value is expected here" : "",
             diagnostics);
    return std::nullopt;
  }
  const auto words = split_words(leaf.words);
  if (std::find(words.begin(), words.end(), node.text) != words.end()) return Value(node.text);
  const Scalar scalar = scalar_of(node);
  const bool wants_int = leaf.kind == ValueKind::Int;
  if (scalar.kind == Scalar::Kind::Int || (scalar.kind == Scalar::Kind::Real && !wants_int)) {
    if (!inside(leaf, scalar.real)) {
      diagnostics.error(node.place, "`" + std::string(leaf.path) + "`: " + node.text +
                                        " is out of range (" + leaf.range() + ")");
      return std::nullopt;
    }
    return wants_int ? Value(scalar.integer) : Value(scalar.real);
  }
  std::string hint = scalar.hint;
  if (scalar.kind == Scalar::Kind::Real && hint.empty()) {
    hint = std::abs(scalar.real) < 1e15 && scalar.real == std::floor(scalar.real)
               ? "write " + std::to_string(static_cast<std::int64_t>(scalar.real))
               : "it has a fraction";
  }
  if (hint.starts_with("write true") || hint.starts_with("write false")) hint.clear();
  if (hint.empty() && !words.empty()) {
    const std::string near = nearest(node.text, words);
    if (!near.empty()) hint = "did you mean '" + near + "'?";
  }
  mismatch(leaf, node, hint, diagnostics);
  return std::nullopt;
}

std::optional<Value> word_list(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::List) {
    mismatch(leaf, node, node.kind == YamlNode::Kind::Scalar ? "write [" + node.text + "]" : "",
             diagnostics);
    return std::nullopt;
  }
  std::vector<std::string> found;
  for (const auto& item : node.items) {
    const auto word = known_word(leaf, item, diagnostics);
    if (!word) return std::nullopt;
    if (std::find(found.begin(), found.end(), *word) != found.end()) {
      diagnostics.error(item.place,
                        "`" + std::string(leaf.path) + "`: '" + *word + "' is there twice");
      return std::nullopt;
    }
    found.push_back(*word);
  }
  ValueList list;  // in the order of the table: the list is a set
  for (const auto& word : split_words(leaf.words)) {
    if (std::find(found.begin(), found.end(), word) != found.end()) list.emplace_back(word);
  }
  return Value(std::move(list));
}

std::optional<Value> text_value(const Leaf& leaf, const YamlNode& node, bool list,
                                Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Scalar && !node.text.empty()) return Value(node.text);
  if (!list || node.kind != YamlNode::Kind::List || node.items.empty()) {
    mismatch(leaf, node, "", diagnostics);
    return std::nullopt;
  }
  ValueList texts;
  for (const auto& item : node.items) {
    auto one = text_value(leaf, item, false, diagnostics);
    if (!one) return std::nullopt;
    texts.push_back(std::move(*one));
  }
  return Value(std::move(texts));
}

std::optional<Value> step_list(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::List) {
    mismatch(leaf, node, "", diagnostics);
    return std::nullopt;
  }
  ValueList list;
  for (const auto& item : node.items) {
    const Scalar scalar = scalar_of(item);
    if (scalar.kind == Scalar::Kind::Int && scalar.integer >= 0) {
      list.emplace_back(scalar.integer);
      continue;
    }
    YamlNode number = item;
    number.quoted = false;
    const bool percent = item.kind == YamlNode::Kind::Scalar && item.text.ends_with('%');
    if (percent) {
      number.text.pop_back();
      while (!number.text.empty() && number.text.back() == ' ') number.text.pop_back();
    }
    const Scalar share = scalar_of(number);
    const bool numeric = share.kind == Scalar::Kind::Int || share.kind == Scalar::Kind::Real;
    if (!percent || !numeric || share.real < 0 || share.real > 100) {
      mismatch(leaf, item, "write a step such as 500 or a share of the run such as '50 %'",
               diagnostics);
      return std::nullopt;
    }
    list.emplace_back(shortest(share.real) + "%");
  }
  return Value(std::move(list));
}

/// A word, or a set of layers in ascending order.
std::optional<Value> layer_list(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::List) {
    const auto word = known_word(leaf, node, diagnostics);
    return word ? std::optional<Value>(*word) : std::nullopt;
  }
  std::set<std::int64_t> layers;
  for (const auto& item : node.items) {
    const Scalar scalar = scalar_of(item);
    const bool index = scalar.kind == Scalar::Kind::Int && scalar.integer >= 0;
    if (!index || !layers.insert(scalar.integer).second) {
      mismatch(leaf, item, index ? "this layer is there twice" : "layers count from 0",
               diagnostics);
      return std::nullopt;
    }
  }
  if (layers.empty()) {
    mismatch(leaf, node, "name at least one layer", diagnostics);
    return std::nullopt;
  }
  ValueList list;
  for (const std::int64_t layer : layers) list.emplace_back(layer);
  return Value(std::move(list));
}

/// The layers a to b − 1.
std::optional<Value> layer_range(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  ValueList ends;
  for (const auto& item : node.items) {
    const Scalar scalar = scalar_of(item);
    if (scalar.kind == Scalar::Kind::Int) ends.emplace_back(scalar.integer);
  }
  const bool two = node.kind == YamlNode::Kind::List && node.items.size() == 2 && ends.size() == 2;
  const auto end = [&](std::size_t i) { return *ends[i].get_if<std::int64_t>(); };
  if (two && 0 <= end(0) && end(0) < end(1)) return Value(std::move(ends));
  mismatch(leaf, node, "give [a, b] with 0 ≤ a < b for the layers a to b − 1", diagnostics);
  return std::nullopt;
}

std::optional<Value> target_map(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::Map) {
    const auto word = known_word(leaf, node, diagnostics);
    return word ? std::optional<Value>(*word) : std::nullopt;
  }
  const Leaf& targets = schema()[leaf_index("model.modulation.targets")];
  ValueMap map;
  bool good = true;
  for (const auto& entry : node.entries) {
    const auto names = split_words(targets.words);
    if (std::find(names.begin(), names.end(), entry.key) == names.end()) {
      diagnostics.error(entry.place, "`" + std::string(leaf.path) + "`: no target '" + entry.key +
                                         "' (" + std::string(targets.words) + ")");
      good = false;
      continue;
    }
    const auto word = known_word(leaf, entry.value, diagnostics);
    good = good && word.has_value();
    if (word) map.emplace_back(entry.key, *word);
  }
  if (!good) return std::nullopt;
  sort_map(map);
  return Value(std::move(map));
}

void expected(const YamlNode& node, std::string_view what, const std::string& wanted,
              const std::string& hint, Diagnostics& diagnostics) {
  diagnostics.error(node.place, "`" + std::string(what) + "`: expected " + wanted + ", found " +
                                    node.described() + (hint.empty() ? "" : ": " + hint));
}

}  // namespace

std::vector<std::string> split_words(std::string_view words) {
  std::vector<std::string> out;
  while (!words.empty()) {
    const auto end = words.find(' ');
    if (end != 0) out.emplace_back(words.substr(0, end));
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return out;
}

std::optional<Value> leaf_value(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Null && leaf.nullable) return Value();
  switch (leaf.kind) {
    case ValueKind::Bool: {
      const Scalar scalar = scalar_of(node);
      if (node.kind == YamlNode::Kind::Scalar && scalar.kind == Scalar::Kind::Bool) {
        return Value(scalar.flag);
      }
      mismatch(leaf, node, node.kind == YamlNode::Kind::Scalar ? scalar.hint : "", diagnostics);
      return std::nullopt;
    }
    case ValueKind::Int:
    case ValueKind::Real:
      return number_value(leaf, node, diagnostics);
    case ValueKind::Word: {
      const auto found = known_word(leaf, node, diagnostics);
      return found ? std::optional<Value>(*found) : std::nullopt;
    }
    case ValueKind::Text:
      return text_value(leaf, node, false, diagnostics);
    case ValueKind::TextList:
      return text_value(leaf, node, true, diagnostics);
    case ValueKind::WordList:
      return word_list(leaf, node, diagnostics);
    case ValueKind::StepList:
      return step_list(leaf, node, diagnostics);
    case ValueKind::LayerList:
      return layer_list(leaf, node, diagnostics);
    case ValueKind::LayerRange:
      return layer_range(leaf, node, diagnostics);
    case ValueKind::TargetMap:
      return target_map(leaf, node, diagnostics);
  }
  return std::nullopt;
}

YamlNode node_of(const Value& value, Place place) {
  YamlNode node;
  node.place = place;
  if (value.is_null()) return node;
  if (const auto* list = value.get_if<ValueList>()) {
    node.kind = YamlNode::Kind::List;
    for (const auto& item : *list) node.items.push_back(node_of(item, place));
  } else if (const auto* map = value.get_if<ValueMap>()) {
    node.kind = YamlNode::Kind::Map;
    for (const auto& [key, item] : *map) {
      node.entries.push_back({key, place, node_of(item, place)});
    }
  } else {
    node.kind = YamlNode::Kind::Scalar;
    node.quoted = value.get_if<std::string>() != nullptr;
    node.text = plain_text(value);
  }
  return node;
}

std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what,
                                         std::int64_t min, std::int64_t max,
                                         Diagnostics& diagnostics) {
  const Scalar scalar = scalar_of(node);
  if (node.kind == YamlNode::Kind::Scalar && scalar.kind == Scalar::Kind::Int &&
      scalar.integer >= min && scalar.integer <= max) {
    return scalar.integer;
  }
  expected(node, what, "an int " + std::to_string(min) + "…" + std::to_string(max),
           node.kind == YamlNode::Kind::Scalar ? scalar.hint : "", diagnostics);
  return std::nullopt;
}

std::optional<double> read_number(const YamlNode& node, std::string_view what,
                                  Diagnostics& diagnostics) {
  const Scalar scalar = scalar_of(node);
  if (node.kind == YamlNode::Kind::Scalar &&
      (scalar.kind == Scalar::Kind::Int || scalar.kind == Scalar::Kind::Real)) {
    return scalar.real;
  }
  expected(node, what, "a number", node.kind == YamlNode::Kind::Scalar ? scalar.hint : "",
           diagnostics);
  return std::nullopt;
}

std::optional<bool> read_flag(const YamlNode& node, std::string_view what,
                              Diagnostics& diagnostics) {
  const Scalar scalar = scalar_of(node);
  if (node.kind == YamlNode::Kind::Scalar && scalar.kind == Scalar::Kind::Bool) return scalar.flag;
  expected(node, what, "true or false", node.kind == YamlNode::Kind::Scalar ? scalar.hint : "",
           diagnostics);
  return std::nullopt;
}

std::optional<std::string> read_word(const YamlNode& node, std::string_view what,
                                     const std::vector<std::string>& words,
                                     Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Scalar) {
    if (std::find(words.begin(), words.end(), node.text) != words.end()) return node.text;
  }
  std::string wanted;
  for (const auto& word : words) wanted += (wanted.empty() ? "" : ", ") + word;
  const std::string near = nearest(node.text, words);
  expected(node, what, "one of " + wanted, near.empty() ? "" : "did you mean '" + near + "'?",
           diagnostics);
  return std::nullopt;
}

std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Scalar) return node.text;
  expected(node, what, "a text", "", diagnostics);
  return std::nullopt;
}

}  // namespace depthgrid
