#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace depthgrid {

struct Value;
using ValueList = std::vector<Value>;
/// A map sorted by key (canonical_json relies on it; sort_map() restores it).
using ValueMap = std::vector<std::pair<std::string, Value>>;

/// One typed value of a leaf: null, bool, integer, real, text, list or map.
///
/// Integers and reals are different values even if numerically equal; the schema decides which of
/// the two a leaf holds, so values of one leaf always compare as expected.
struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, ValueList, ValueMap> data;

  Value() = default;
  template <class T>
    requires std::same_as<T, bool>
  explicit(false) Value(T flag) : data(flag) {}
  template <class T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  explicit(false) Value(T number) : data(static_cast<std::int64_t>(number)) {}
  explicit(false) Value(double number) : data(number) {}
  explicit(false) Value(std::string text) : data(std::move(text)) {}
  explicit(false) Value(std::string_view text) : data(std::string(text)) {}
  explicit(false) Value(const char* text) : data(std::string(text)) {}
  explicit(false) Value(ValueList list) : data(std::move(list)) {}
  explicit(false) Value(ValueMap map) : data(std::move(map)) {}

  bool operator==(const Value& other) const = default;

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
  bool is_null() const { return data.index() == 0; }
  /// Integer or real.
  bool is_number() const { return data.index() == 2 || data.index() == 3; }
  /// The number as a real. @throws Error if it is not a number.
  double number() const;
};

/// Sorted keys, no blanks, shortest round-trip numbers: 1e-4 and 0.0001 give the same text.
std::string canonical_json(const Value& value);
void append_canonical_json(std::string& out, const Value& value);

/// The shortest text that round-trips; integral reals have no fraction ("1", not "1.0").
std::string shortest(double number);

/// As a person writes it: bare words, "q+k" for lists, "q:row+up:column" for maps, "null".
std::string plain_text(const Value& value);

/// Any JSON text as a value; numbers without fraction or exponent are integers.
/// @throws UserError (BadData) if the text is not JSON.
Value value_from_json(std::string_view text);

void sort_map(ValueMap& map);
/// The value of a key, or a null pointer.
const Value* find_key(const ValueMap& map, std::string_view key);

/// The resolved value of a leaf, of whatever holds the leaves of a cell.
using ValueOfLeaf = std::function<const Value&(std::string_view path)>;

}  // namespace depthgrid
