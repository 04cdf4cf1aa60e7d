#include "core/base/json_text.hpp"

#include <nlohmann/json.hpp>

namespace depthgrid {
namespace {

constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

}  // namespace

std::string json_text(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, kReplace);
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, kReplace);
}

std::string strict_json_text(const nlohmann::ordered_json& json) {
  return json.dump();
}

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text);
}

nlohmann::json parse_json_or_discard(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::ordered_json parse_ordered_json_or_discard(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

}  // namespace depthgrid
