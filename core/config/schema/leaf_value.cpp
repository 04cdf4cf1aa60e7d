#include "core/config/schema/leaf_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "core/config/text_form.hpp"

namespace depthgrid {
namespace {

/// Reading of a plain scalar: its number or boolean, or why it is neither.
struct Scalar {
  enum class Kind : std::uint8_t { None, Bool, Int, Real, Text, Faulty };  // None: not a scalar
  Kind kind = Kind::Text;
  std::string hint = "";  // of Faulty, and of Text that looks like something else
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0;

  bool numeric() const { return kind == Kind::Int || kind == Kind::Real; }
};

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
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
  constexpr std::pair<std::string_view, std::string_view> kHints[] = {
      {"yes on y true", "write true"},
      {"no off n false", "write false"},
      {".inf +.inf -.inf inf -inf .nan nan", "numbers must be finite"}};
  for (const auto& [words, hint] : kHints) {
    if (contains(split_words(words), lower)) return std::string(hint);
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
  using Kind = Scalar::Kind;
  if (node.kind != YamlNode::Kind::Scalar) return {.kind = Kind::None};
  const std::string& text = node.text;
  const bool flag = text == "true" || text == "false";
  bool integral = false;
  bool leading_zero = false;
  const bool numeric = looks_numeric(text, &integral, &leading_zero);
  if (node.quoted) return {.hint = numeric || flag ? "remove the quotes" : ""};
  if (flag) return {.kind = Kind::Bool, .flag = text == "true"};
  if (!numeric) return {.hint = text_hint(text)};
  if (leading_zero) {
    const auto first = text.find_first_not_of("+-0");
    const bool all_zero = first == std::string::npos || text[first] < '0' || text[first] > '9';
    return {.kind = Kind::Faulty,
            .hint = "'" + text + "' has a leading zero: write " + (text[0] == '-' ? "-" : "") +
                    (all_zero ? "0" : "") + (first == std::string::npos ? "" : text.substr(first)) +
                    " (numbers are decimal)"};
  }
  const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  Scalar out = {.kind = integral ? Kind::Int : Kind::Real};
  if (!integral) {
    const auto result = std::from_chars(begin, end, out.real);
    if (result.ec == std::errc::result_out_of_range || !std::isfinite(out.real)) {
      out.kind = Kind::Faulty;
      out.hint = "'" + text + "' is outside the range of a double";
    } else if (out.real != 0 && std::abs(out.real) < std::numeric_limits<double>::min()) {
      out.kind = Kind::Faulty;
      out.hint = "'" + text + "' is too small to be held exactly";
    }
  } else if (std::from_chars(begin, end, out.integer).ec == std::errc::result_out_of_range) {
    out.hint = "'" + text + "' is larger than any integer here (2^63 − 1)";
    // A real may be that large.
    const bool real = std::from_chars(begin, end, out.real).ec == std::errc();
    out.kind = real ? Kind::Real : Kind::Faulty;
  } else {
    out.real = static_cast<double>(out.integer);
  }
  return out;
}

std::string article(std::string_view noun) {
  return (noun.find_first_of("aeiou") == 0 ? "an " : "a ") + std::string(noun);
}

/// "`path`: expected an int 1…6, found 'x' (hint)".
std::nullopt_t mismatch(const Leaf& leaf, const YamlNode& node, std::string_view hint,
                        Diagnostics& diagnostics) {
  const std::string range = leaf.range();
  std::string message = "`" + std::string(leaf.path) + "`: expected " + article(leaf.type());
  if (!range.empty()) message += " (" + range + ")";
  if (leaf.nullable) message += " or null";
  message += ", found " + node.described();
  if (!hint.empty()) message += ": " + std::string(hint);
  diagnostics.error(node.place, message);
  return std::nullopt;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& words) {
  const std::string near = nearest(text, words);
  return near.empty() ? "" : "did you mean '" + near + "'?";
}

bool inside(const Leaf& leaf, double number) {
  return (leaf.open_min ? number > leaf.min : number >= leaf.min) &&
         (leaf.open_max ? number < leaf.max : number <= leaf.max);
}

std::optional<std::string> known_word(const Leaf& leaf, const YamlNode& node,
                                      Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::Scalar) return mismatch(leaf, node, "", diagnostics);
  const auto words = split_words(leaf.words);
  if (contains(words, node.text)) return node.text;
  return mismatch(leaf, node, did_you_mean(node.text, words), diagnostics);
}

std::optional<Value> number_value(const Leaf& leaf, const YamlNode& node,
                                  Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::Scalar) {
    const bool list = node.kind == YamlNode::Kind::List;
    return mismatch(leaf, node, list ? "one value is expected here" : "", diagnostics);
  }
  const auto words = split_words(leaf.words);
  if (contains(words, node.text)) return Value(node.text);
  const Scalar scalar = scalar_of(node);
  const bool wants_int = leaf.kind == ValueKind::Int;
  const bool real = scalar.kind == Scalar::Kind::Real;
  if (scalar.numeric() && !(real && wants_int)) {
    if (inside(leaf, scalar.real)) return wants_int ? Value(scalar.integer) : Value(scalar.real);
    diagnostics.error(node.place, "`" + std::string(leaf.path) + "`: " + node.text +
                                      " is out of range (" + leaf.range() + ")");
    return std::nullopt;
  }
  std::string hint = scalar.hint;
  if (real && hint.empty()) {
    hint = std::abs(scalar.real) < 1e15 && scalar.real == std::floor(scalar.real)
               ? "write " + std::to_string(static_cast<std::int64_t>(scalar.real))
               : "it has a fraction";
  }
  if (hint.starts_with("write true") || hint.starts_with("write false")) hint.clear();
  if (hint.empty()) hint = did_you_mean(node.text, words);
  return mismatch(leaf, node, hint, diagnostics);
}

std::optional<Value> word_list(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::List) {
    const bool known = contains(split_words(leaf.words), node.text);
    return mismatch(leaf, node, known ? "write [" + node.text + "]" : "", diagnostics);
  }
  std::vector<std::string> found;
  for (const auto& item : node.items) {
    const auto word = known_word(leaf, item, diagnostics);
    if (!word) return std::nullopt;
    if (contains(found, *word)) {
      diagnostics.error(item.place,
                        "`" + std::string(leaf.path) + "`: '" + *word + "' is there twice");
      return std::nullopt;
    }
    found.push_back(*word);
  }
  ValueList list;  // in the order of the table: the list is a set
  for (const auto& word : split_words(leaf.words)) {
    if (contains(found, word)) list.emplace_back(word);
  }
  return Value(std::move(list));
}

std::optional<Value> text_value(const Leaf& leaf, const YamlNode& node, bool list,
                                Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Scalar && !node.text.empty()) {
    const TextForm* const form = text_form(leaf.path);
    if (form == nullptr || form->fits(node.text)) return Value(node.text);
    return mismatch(leaf, node, form->expected, diagnostics);
  }
  if (list && node.kind == YamlNode::Kind::List && node.items.empty() &&
      leaf.default_text == "[]") {
    return Value(ValueList());
  }
  if (!list || node.kind != YamlNode::Kind::List || node.items.empty()) {
    return mismatch(leaf, node, "", diagnostics);
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
    return mismatch(leaf, node, "", diagnostics);
  }
  ValueList list;
  for (const auto& item : node.items) {
    const Scalar scalar = scalar_of(item);
    if (scalar.kind == Scalar::Kind::Int && scalar.integer >= 0) {
      list.emplace_back(scalar.integer);
      continue;
    }
    auto percent = percentage(item);
    if (percent) percent->quoted = false;
    const Scalar share = percent ? scalar_of(*percent) : Scalar{};
    if (!share.numeric() || share.real < 0 || share.real > 100) {
      return mismatch(leaf, item, "write a step such as 500 or a share of the run such as '50 %'",
                      diagnostics);
    }
    list.emplace_back(shortest(share.real) + "%");
  }
  return Value(std::move(list));
}

/// A word, or a set of layers in ascending order.
std::optional<Value> layer_list(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::List) {
    return known_word(leaf, node, diagnostics);
  }
  std::set<std::int64_t> layers;
  for (const auto& item : node.items) {
    const Scalar scalar = scalar_of(item);
    const bool index = scalar.kind == Scalar::Kind::Int && scalar.integer >= 0;
    if (!index || !layers.insert(scalar.integer).second) {
      return mismatch(leaf, item, index ? "this layer is there twice" : "layers count from 0",
                      diagnostics);
    }
  }
  if (layers.empty()) {
    return mismatch(leaf, node, "name at least one layer", diagnostics);
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
  const bool two = node.items.size() == 2 && ends.size() == 2;
  const auto end = [&](std::size_t i) { return *ends[i].get_if<std::int64_t>(); };
  if (two && 0 <= end(0) && end(0) < end(1)) return Value(std::move(ends));
  return mismatch(leaf, node, "give [a, b] with 0 ≤ a < b for the layers a to b − 1", diagnostics);
}

/// One number or more, each in the leaf's range.
std::optional<Value> real_list(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::List || node.items.empty()) {
    const bool one = scalar_of(node).numeric();
    return mismatch(leaf, node, one ? "write [" + node.text + "]" : "give at least one number",
                    diagnostics);
  }
  ValueList list;
  for (const auto& item : node.items) {
    const Scalar scalar = scalar_of(item);
    if (!scalar.numeric()) return mismatch(leaf, item, scalar.hint, diagnostics);
    if (!inside(leaf, scalar.real)) {
      diagnostics.error(item.place, "`" + std::string(leaf.path) + "`: " + item.text +
                                        " is out of range (" + leaf.range() + ")");
      return std::nullopt;
    }
    list.emplace_back(scalar.real);
  }
  return Value(std::move(list));
}

std::optional<Value> target_map(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind != YamlNode::Kind::Map) {
    return known_word(leaf, node, diagnostics);
  }
  const Leaf& targets = schema()[leaf_index("model.modulation.targets")];
  ValueMap map;
  bool good = true;
  for (const auto& entry : node.entries) {
    const auto names = split_words(targets.words);
    if (!contains(names, entry.key)) {
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

/// A word, or one key with a count or with steps.
std::optional<Value> schedule(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Scalar) return known_word(leaf, node, diagnostics);
  if (node.kind != YamlNode::Kind::Map || node.entries.size() != 1) {
    return mismatch(leaf, node, "give one key, such as {every: 100}", diagnostics);
  }
  const auto& [key, place, inner] = node.entries.front();
  if (key == "at") {
    auto steps = step_list(leaf, inner, diagnostics);
    if (!steps) return std::nullopt;
    return Value(ValueMap{{key, std::move(*steps)}});
  }
  const Scalar count = scalar_of(inner);
  const bool known = key == "every" || key == "log_spaced";
  if (known && count.kind == Scalar::Kind::Int && count.integer >= 1) {
    return Value(ValueMap{{key, Value(count.integer)}});
  }
  return mismatch(
      leaf, known ? inner : node,
      known ? "`" + key + "` takes a whole number from 1" : "no schedule is called '" + key + "'",
      diagnostics);
}

std::nullopt_t expected(const YamlNode& node, std::string_view what, const std::string& wanted,
                        const std::string& hint, Diagnostics& diagnostics) {
  diagnostics.error(node.place, "`" + std::string(what) + "`: expected " + wanted + ", found " +
                                    node.described() + (hint.empty() ? "" : ": " + hint));
  return std::nullopt;
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
      if (scalar.kind == Scalar::Kind::Bool) return Value(scalar.flag);
      return mismatch(leaf, node, scalar.hint, diagnostics);
    }
    case ValueKind::Int:
    case ValueKind::Real:
      return number_value(leaf, node, diagnostics);
    case ValueKind::Word:
      return known_word(leaf, node, diagnostics);
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
    case ValueKind::Schedule:
      return schedule(leaf, node, diagnostics);
    case ValueKind::RealList:
      return real_list(leaf, node, diagnostics);
  }
  return std::nullopt;
}

YamlNode node_of(const Value& value, Place place) {
  YamlNode node = {.place = place};
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

std::optional<YamlNode> percentage(const YamlNode& node) {
  if (!node.text.ends_with('%')) return std::nullopt;
  YamlNode number = node;
  number.text.pop_back();
  while (number.text.ends_with(' ')) number.text.pop_back();
  return number;
}

std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what,
                                         std::int64_t min, std::int64_t max,
                                         Diagnostics& diagnostics) {
  const Scalar scalar = scalar_of(node);
  if (scalar.kind == Scalar::Kind::Int && scalar.integer >= min && scalar.integer <= max) {
    return scalar.integer;
  }
  return expected(node, what, "an int " + std::to_string(min) + "…" + std::to_string(max),
                  scalar.hint, diagnostics);
}

std::optional<double> read_number(const YamlNode& node, std::string_view what,
                                  Diagnostics& diagnostics) {
  const Scalar scalar = scalar_of(node);
  if (scalar.numeric()) return scalar.real;
  return expected(node, what, "a number", scalar.hint, diagnostics);
}

std::optional<bool> read_flag(const YamlNode& node, std::string_view what,
                              Diagnostics& diagnostics) {
  const Scalar scalar = scalar_of(node);
  if (scalar.kind == Scalar::Kind::Bool) return scalar.flag;
  return expected(node, what, "true or false", scalar.hint, diagnostics);
}

std::optional<std::string> read_word(const YamlNode& node, std::string_view what,
                                     const std::vector<std::string>& words,
                                     Diagnostics& diagnostics) {
  if (contains(words, node.text)) return node.text;
  std::string wanted;
  for (const auto& word : words) wanted += (wanted.empty() ? "" : ", ") + word;
  return expected(node, what, "one of " + wanted, did_you_mean(node.text, words), diagnostics);
}

std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     Diagnostics& diagnostics) {
  if (node.kind == YamlNode::Kind::Scalar) return node.text;
  return expected(node, what, "a text", "", diagnostics);
}

}  // namespace depthgrid
