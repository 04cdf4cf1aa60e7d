#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

struct YamlEntry;

/// A node of a YAML text, with its place. Scalars are untyped; the schema gives them types.
struct YamlNode {
  enum class Kind : std::uint8_t { Null, Scalar, List, Map };
  Kind kind = Kind::Null;
  bool quoted = false;
  Place place = {};
  std::string text = {};
  std::vector<YamlNode> items = {};
  std::vector<YamlEntry> entries = {};

  /// The value of a key of a map, or a null pointer.
  const YamlNode* find(std::string_view key) const;
  /// "a list", "a map", "nothing" or the scalar in quotes: for messages.
  std::string described() const;
};

struct YamlEntry {
  std::string key;
  Place place;  // of the key
  YamlNode value;
};

/// Limits of a text; beyond them it is refused early.
inline constexpr std::size_t kLongestYaml = std::size_t{1} << 20U;  // bytes
inline constexpr int kDeepestYaml = 32;
inline constexpr std::size_t kMostYamlNodes = 100000;

/// Reads one document strictly. Anchors, aliases, tags, merge keys, further documents, invalid
/// UTF-8, duplicate and non-scalar keys are errors, and so are texts beyond the limits.
/// @param file  a text registered in `diagnostics`.
/// @return the readable part; nothing after an error that ends reading.
std::optional<YamlNode> read_yaml(Diagnostics& diagnostics, int file);

/// Reads a fragment as if it were at a place of the registered text.
std::optional<YamlNode> read_yaml_fragment(Diagnostics& diagnostics, Place origin,
                                           const std::string& text);

}  // namespace depthgrid
