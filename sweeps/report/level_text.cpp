#include "sweeps/report/level_text.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/parse_number.hpp"

namespace depthgrid {
namespace {

std::optional<std::int64_t> positive(std::string_view text) {
  const auto out = parse_number<std::int64_t>(text);
  return out && *out > 0 ? out : std::nullopt;
}

}  // namespace

std::string level_text(const Value& level) {
  constexpr std::size_t kLong = 8;        // digits that nobody types
  constexpr double kMostLayers = 1000.0;  // 1/n of more is no step of a depth
  std::string out = plain_text(level);
  const auto* real = level.get_if<double>();
  if (real == nullptr || !(*real > 0) || out.size() <= kLong) return out;
  const double n = std::round(1 / *real);
  if (n > kMostLayers || 1 / n != *real) return out;
  return "1/" + shortest(n);
}

std::optional<double> fraction_of(std::string_view text, const Value& layers) {
  const std::size_t bar = text.find('/');
  if (bar == text.npos) return std::nullopt;
  if (text == "1/L") {
    return layers.is_number() ? std::optional(1 / layers.number()) : std::nullopt;
  }
  const auto above = positive(text.substr(0, bar)), below = positive(text.substr(bar + 1));
  if (!above || !below) return std::nullopt;
  return static_cast<double>(*above) / static_cast<double>(*below);
}

}  // namespace depthgrid
