#include "models/layer_parameters.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace depthgrid {
namespace {

constexpr std::string_view kLayers = "layers.";
constexpr std::array<std::string_view, 3> kShared = {"block.", "modulation.", "hypernet."};

}  // namespace

std::int64_t layer_count(const ModelOptions& options) {
  if (options.shared()) return 1;
  const std::int64_t replaced = options.flow.replaced();
  return replaced > 0 ? options.layers - replaced + 1 : options.layers;
}

std::optional<std::int64_t> layer_of(const ModelOptions& options, std::string_view parameter) {
  const FlowOptions& flow = options.flow;
  if (parameter.starts_with("flow.")) return flow.first;
  if (parameter.starts_with(kLayers)) {
    std::int64_t layer = 0;
    std::from_chars(parameter.data() + kLayers.size(), parameter.data() + parameter.size(), layer);
    return layer < flow.last || flow.replaced() == 0 ? layer : layer - flow.replaced() + 1;
  }
  const auto starts = [&](std::string_view prefix) { return parameter.starts_with(prefix); };
  if (options.shared() && std::ranges::any_of(kShared, starts)) return 0;
  return std::nullopt;
}

}  // namespace depthgrid
