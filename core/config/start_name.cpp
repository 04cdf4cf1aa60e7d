#include "core/config/start_name.hpp"

#include "core/config/resolve/slots.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kArm = "arm:";
constexpr std::string_view kCell = "cell:";

}  // namespace

StartName start_name(const Value& value) {
  using Kind = StartName::Kind;
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return {};
  if (text->starts_with(kArm)) return {Kind::Arm, text->substr(kArm.size())};
  if (text->starts_with(kCell)) return {Kind::Cell, text->substr(kCell.size())};
  return {Kind::Files, *text};
}

std::optional<CellId> start_cell(const CellConfig& config) {
  StartName start = start_name(config.at("model.init.from"));
  if (start.kind != StartName::Kind::Cell) return std::nullopt;
  return std::move(start.name);
}

std::int64_t start_depth(const CellConfig& config) {
  const auto* depth = config.slot(start_depth_slot()).get_if<std::int64_t>();
  return depth == nullptr ? 0 : *depth;
}

std::string start_identity(const CellConfig& config) {
  if (const auto cell = start_cell(config)) return std::string(kCell) + *cell;
  const auto* digest = config.slot(start_digest_slot()).get_if<std::string>();
  return digest == nullptr ? "" : "file:" + *digest;
}

}  // namespace depthgrid
