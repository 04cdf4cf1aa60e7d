#include "storage/columns/column_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kTextStep = 8;

template <class T>
void append_item(std::vector<std::byte>& bytes, T item) {
  const auto* from = reinterpret_cast<const std::byte*>(&item);
  bytes.insert(bytes.end(), from, from + sizeof(T));
}

template <class T>
T item_at(const VariableColumn& column, std::size_t item) {
  T out;
  std::memcpy(&out, column.bytes.data() + item * sizeof(T), sizeof(T));
  return out;
}

/// Integers out of the file's range are bugs of the caller: they are clamped, never wrapped.
template <class T>
T whole(double value) {
  if (std::isnan(value)) return T{-1};
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= kLow) return std::numeric_limits<T>::min();
  if (value >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(std::llround(value));
}

void append_number(std::vector<std::byte>& bytes, DataType type, double value) {
  switch (type) {
    case DataType::Int8:
      return append_item(bytes, whole<std::int8_t>(value));
    case DataType::Int32:
      return append_item(bytes, whole<std::int32_t>(value));
    case DataType::Int64:
      return append_item(bytes, whole<std::int64_t>(value));
    case DataType::Float32:
      return append_item(bytes, static_cast<float>(value));
    case DataType::Float64:
      return append_item(bytes, value);
    case DataType::Text:
      break;
  }
  throw Error("a number cannot be put into a column of type " + std::string(name_of(type)));
}

VariableColumn empty_column(std::string name, std::vector<std::string> dims, DataType type) {
  VariableColumn out;
  out.name = std::move(name);
  out.dims = std::move(dims);
  out.type = type;
  out.item_bytes = bytes_of(type);
  return out;
}

void add_flags(VariableColumn& column, std::string_view long_name) {
  const std::vector<Flag> flags = flags_of(long_name);
  if (flags.empty()) return;
  std::vector<std::int8_t> values;
  std::string meanings;
  for (const Flag& flag : flags) {
    values.push_back(static_cast<std::int8_t>(flag.value));
    meanings += (meanings.empty() ? "" : " ") + flag.meaning;
  }
  column.attributes.emplace_back("flag_values", values);
  column.attributes.emplace_back("flag_meanings", meanings);
}

}  // namespace

double VariableColumn::number(std::size_t item) const {
  switch (type) {
    case DataType::Float32:
      return item_at<float>(*this, item);
    case DataType::Float64:
      return item_at<double>(*this, item);
    case DataType::Text:
      return kNaN;
    default:
      return static_cast<double>(integer(item));
  }
}

std::int64_t VariableColumn::integer(std::size_t item) const {
  switch (type) {
    case DataType::Int8:
      return item_at<std::int8_t>(*this, item);
    case DataType::Int32:
      return item_at<std::int32_t>(*this, item);
    case DataType::Int64:
      return item_at<std::int64_t>(*this, item);
    default:
      return whole<std::int64_t>(number(item));
  }
}

std::string VariableColumn::text(std::size_t item) const {
  if (type != DataType::Text) return {};
  const auto* first = reinterpret_cast<const char*>(bytes.data()) + item * item_bytes;
  return {first, strnlen(first, item_bytes)};
}

std::vector<std::string> VariableColumn::texts() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < items(); ++i) out.push_back(text(i));
  return out;
}

const VariableColumn* ColumnTable::find(std::string_view name) const {
  const auto at = std::ranges::find(columns, name, &VariableColumn::name);
  return at == columns.end() ? nullptr : &*at;
}

std::size_t ColumnTable::items(const std::vector<std::string>& dims) const {
  std::size_t out = 1;
  for (const std::string& dim : dims) {
    const auto at = sizes.find(dim);
    if (at == sizes.end()) throw Error("axis '" + dim + "' has no length");
    out *= static_cast<std::size_t>(at->second);
  }
  return out;
}

std::string ColumnTable::text_attribute(std::string_view name) const {
  const auto at = std::ranges::find(attributes, name, &Attributes::value_type::first);
  if (at == attributes.end()) return {};
  const auto* text = std::get_if<std::string>(&at->second);
  return text == nullptr ? std::string() : *text;
}

VariableColumn number_column(std::string name, std::vector<std::string> dims, DataType type,
                             std::span<const double> values) {
  VariableColumn out = empty_column(std::move(name), std::move(dims), type);
  out.bytes.reserve(values.size() * out.item_bytes);
  for (const double value : values) append_number(out.bytes, type, value);
  return out;
}

VariableColumn integer_column(std::string name, std::vector<std::string> dims, DataType type,
                              std::span<const std::int64_t> values) {
  VariableColumn out = empty_column(std::move(name), std::move(dims), type);
  for (const std::int64_t value : values) {
    if (type == DataType::Int64) {
      append_item(out.bytes, value);  // a seed may need all 63 bits, a double has 53
    } else {
      append_number(out.bytes, type, static_cast<double>(value));
    }
  }
  return out;
}

VariableColumn text_column(std::string name, std::vector<std::string> dims,
                           std::span<const std::string> values) {
  VariableColumn out = empty_column(std::move(name), std::move(dims), DataType::Text);
  std::size_t longest = 1;
  for (const std::string& value : values) longest = std::max(longest, value.size());
  out.item_bytes = (longest + kTextStep - 1) / kTextStep * kTextStep;
  out.bytes.resize(values.size() * out.item_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::memcpy(out.bytes.data() + i * out.item_bytes, values[i].data(), values[i].size());
  }
  return out;
}

void describe(VariableColumn& column) {
  if (const Variable* v = find_variable(column.name)) {
    column.attributes.emplace_back("units", std::string(v->units));
    column.attributes.emplace_back("long_name", std::string(v->long_name));
    column.attributes.emplace_back("schedule", std::string(v->schedule));
    column.attributes.emplace_back("source", std::string(v->source));
    if (v->units == kInstantUnits) {
      column.attributes.emplace_back("calendar", std::string("standard"));
    }
    add_flags(column, v->long_name);
    return;
  }
  const Dimension& d = dimension(column.name);
  column.attributes.emplace_back("units", std::string("1"));
  column.attributes.emplace_back("long_name", std::string(d.long_name));
  if (!d.axis.empty()) column.attributes.emplace_back("axis", std::string(d.axis));
}

std::vector<std::byte> fill_item(DataType type, std::size_t item_bytes) {
  if (type == DataType::Text) return std::vector<std::byte>(item_bytes);
  std::vector<std::byte> out;
  append_number(out, type, kNaN);
  return out;
}

VariableColumn coordinate(const Dimension& dimension, std::int64_t size) {
  const std::string name(dimension.name);
  VariableColumn out;
  if (dimension.kind == AxisKind::Fixed) {
    std::vector<std::string> labels;
    for (const std::string_view label : labels_of(dimension)) labels.emplace_back(label);
    out = text_column(name, {name}, labels);
  } else if (dimension.kind == AxisKind::Labelled) {
    throw Error("axis '" + name + "' was given no labels");
  } else {
    std::vector<std::int64_t> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = dimension.first + static_cast<std::int64_t>(i);
    }
    out = integer_column(name, {name}, dimension.type, values);
  }
  describe(out);
  return out;
}

}  // namespace depthgrid
