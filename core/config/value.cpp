#include "core/config/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"

namespace depthgrid {
namespace {

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

Value from_json(const nlohmann::json& node) {
  switch (node.type()) {
    case nlohmann::json::value_t::boolean:
      return node.get<bool>();
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
      return node.get<std::int64_t>();
    case nlohmann::json::value_t::number_float:
      return node.get<double>();
    case nlohmann::json::value_t::string:
      return node.get<std::string>();
    case nlohmann::json::value_t::array: {
      ValueList list;
      for (const auto& item : node) list.push_back(from_json(item));
      return list;
    }
    case nlohmann::json::value_t::object: {
      ValueMap map;
      for (const auto& [key, item] : node.items()) map.emplace_back(key, from_json(item));
      sort_map(map);
      return map;
    }
    default:
      return {};
  }
}

}  // namespace

double Value::number() const {
  if (const auto* integer = get_if<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = get_if<double>()) return *real;
  throw Error("value is not a number: " + canonical_json(*this));
}

std::string shortest(double number) {
  if (number == 0) return "0";  // -0 equals 0 everywhere, so it must look the same
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  std::string text(buffer.data(), end);
  // "3e-04" -> "3e-4", "1e+06" -> "1e6": as people write it, and valid JSON.
  if (const auto e = text.find('e'); e != std::string::npos) {
    std::size_t digits = e + 1;
    if (text[digits] == '+') {
      text.erase(digits, 1);
    } else if (text[digits] == '-') {
      ++digits;
    }
    while (text[digits] == '0' && digits + 1 < text.size()) text.erase(digits, 1);
  }
  return text;
}

void append_canonical_json(std::string& out, const Value& value) {
  if (const auto* flag = value.get_if<bool>()) {
    out += *flag ? "true" : "false";
  } else if (const auto* integer = value.get_if<std::int64_t>()) {
    out += std::to_string(*integer);
  } else if (const auto* real = value.get_if<double>()) {
    out += shortest(*real);
  } else if (const auto* text = value.get_if<std::string>()) {
    append_json_string(out, *text);
  } else if (const auto* list = value.get_if<ValueList>()) {
    out += '[';
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out += ',';
      append_canonical_json(out, (*list)[i]);
    }
    out += ']';
  } else if (const auto* map = value.get_if<ValueMap>()) {
    out += '{';
    for (std::size_t i = 0; i < map->size(); ++i) {
      if (i > 0) out += ',';
      append_json_string(out, (*map)[i].first);
      out += ':';
      append_canonical_json(out, (*map)[i].second);
    }
    out += '}';
  } else {
    out += "null";
  }
}

std::string canonical_json(const Value& value) {
  std::string out;
  append_canonical_json(out, value);
  return out;
}

std::string plain_text(const Value& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  std::string out;
  if (const auto* list = value.get_if<ValueList>()) {
    for (const auto& item : *list) {
      if (!out.empty()) out += '+';
      out += plain_text(item);
    }
    return out.empty() ? "[]" : out;
  }
  if (const auto* map = value.get_if<ValueMap>()) {
    for (const auto& [key, item] : *map) {
      if (!out.empty()) out += '+';
      out += key + ':' + plain_text(item);
    }
    return out.empty() ? "{}" : out;
  }
  return canonical_json(value);
}

Value value_from_json(std::string_view text) {
  try {
    return from_json(parse_json(text));
  } catch (const nlohmann::json::exception& problem) {
    throw UserError(ExitCode::BadData, std::string("not valid JSON: ") + problem.what());
  }
}

void sort_map(ValueMap& map) {
  std::sort(map.begin(), map.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

const Value* find_key(const ValueMap& map, std::string_view key) {
  for (const auto& [name, value] : map) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace depthgrid
