#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/options/leaf_readers.hpp"

namespace depthgrid {

/// Terms of the training loss on the dynamics of a flow, leaves `regularisers`.
enum class Regulariser : std::uint8_t {
  Energy,
  Kinetic,
  Acceleration,
  JacobianFrobenius,
  SpectralNorm,
  LogNorm,
  ControlSmoothness
};
inline constexpr std::array<std::string_view, 7> kRegulariserNames = {
    "energy",        "kinetic",  "acceleration",      "jacobian_frobenius",
    "spectral_norm", "log_norm", "control_smoothness"};

struct RegulariserOptions {
  struct Term {
    Regulariser kind;
    std::vector<double> weight;  // (E)
  };
  std::vector<Term> terms{};     // those with a weight, in the order of the enumeration
  bool gaussian = false;         // noise of jacobian_frobenius, else signs
  std::int64_t iterations = 1;   // steps of Lanczos
  std::vector<double> margin{};  // (E) of log_norm
  /// (E) of control_smoothness: length of the secant, and the band of its slope; without a band,
  /// both of its edges are 0.
  std::vector<double> delta{}, band_low{}, band_high{};

  /// Its position among the terms; none if it has no weight.
  std::optional<std::size_t> place(Regulariser kind) const;
  bool has(Regulariser kind) const { return place(kind).has_value(); }

  /// Regularisers that follow a vector along the depth.
  std::vector<Regulariser> directed() const;
  /// Some are computed at each step of the depth.
  bool of_depth() const;
  /// Some are functions of the field's Jacobian, so that training differentiates twice.
  bool of_jacobian() const;
};

/// Reads the leaves `regularisers` of cells that share a structure.
RegulariserOptions regulariser_options(const CellConfigs& cells);

}  // namespace depthgrid
