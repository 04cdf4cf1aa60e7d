#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/schema.hpp"
#include "core/config/yaml/yaml_node.hpp"

namespace depthgrid {

/// Converts a node to a typed value of a leaf: the one place where text becomes a value. Integers
/// have no leading zero, underscore or colon; booleans are only true and false; numbers are finite.
/// @return nothing after reporting a problem at the node's place.
std::optional<Value> leaf_value(const Leaf& leaf, const YamlNode& node, Diagnostics& diagnostics);

/// A value as a node, so that values from JSON and callers are checked by the same code.
YamlNode node_of(const Value& value, Place place);

/// Of "50 %" the number, as a node; nothing without a percent sign.
std::optional<YamlNode> percentage(const YamlNode& node);

/// Scalars of sweep-level keys. `what` names the key in the message.
std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what,
                                         std::int64_t min, std::int64_t max,
                                         Diagnostics& diagnostics);
std::optional<double> read_number(const YamlNode& node, std::string_view what,
                                  Diagnostics& diagnostics);
std::optional<bool> read_flag(const YamlNode& node, std::string_view what,
                              Diagnostics& diagnostics);
std::optional<std::string> read_word(const YamlNode& node, std::string_view what,
                                     const std::vector<std::string>& words,
                                     Diagnostics& diagnostics);
std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     Diagnostics& diagnostics);

/// Words separated by blanks.
std::vector<std::string> split_words(std::string_view words);

}  // namespace depthgrid
