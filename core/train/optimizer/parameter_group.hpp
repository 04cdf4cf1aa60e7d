#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace depthgrid {

/// What a parameter is for. Rates, decay, freezing and gradient norms go by group; the order is
/// that of the store's `parameter_group` axis.
enum class ParameterGroup : std::uint8_t {
  Trunk,
  Embedding,
  Head,
  Norm,
  Bias,
  Modulation,
  Hypernet,
  Ssm,
  Field,
  Alpha,
  Residual,
  Gain,
  Control,
  Tpn,
  Scalars,
  Router,
  Predictor
};

constexpr std::size_t kParameterGroupCount = 17;

/// Names as configuration and store write them, in the order of the enumeration.
constexpr std::array<std::string_view, kParameterGroupCount> kParameterGroupNames = {
    "trunk", "embedding", "head", "norm",    "bias", "modulation", "hypernet", "ssm",      "field",
    "alpha", "residual",  "gain", "control", "tpn",  "scalars",    "router",   "predictor"};

constexpr std::string_view name_of(ParameterGroup group) noexcept {
  return kParameterGroupNames[static_cast<std::size_t>(group)];
}

}  // namespace depthgrid
