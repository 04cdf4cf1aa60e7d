#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace depthgrid {

// JSON to text and back, in functions that are compiled once: the library's own are templates,
// whose instances were a sixth of all code and of the compiler's time. Sources call these, not
// dump() and parse().

/// The text of `json`: on one line, or with `indent` blanks a level. Bytes that are not UTF-8
/// become U+FFFD, numbers that are not finite become null.
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

/// On one line. @throws nlohmann::json::type_error for bytes that are not UTF-8.
std::string strict_json_text(const nlohmann::ordered_json& json);

/// @throws nlohmann::json::parse_error if `text` is not JSON.
nlohmann::json parse_json(std::string_view text);
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// Without an exception: `is_discarded()` if `text` is not JSON.
nlohmann::json parse_json_or_discard(std::string_view text);
nlohmann::ordered_json parse_ordered_json_or_discard(std::string_view text);

}  // namespace depthgrid
