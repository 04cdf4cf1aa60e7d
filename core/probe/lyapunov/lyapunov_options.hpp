#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/config/probe_schedule.hpp"
#include "core/probe/lyapunov/finite_time.hpp"

namespace depthgrid {

/// Of which map the exponents are: none is "the" exponent, since all depend on the inner product.
/// Names: kLyapunovVariantNames.
enum class LyapunovVariant : std::uint8_t {
  Raw,         // Φ: H_0 -> H_L
  Normalised,  // the final norm after Φ: what the logits see
  Relative     // growth relative to the state's: ln(‖δ_L‖/‖H_L‖) − ln(‖δ_0‖/‖H_0‖)
};

/// @throws Error naming the known variants.
LyapunovVariant lyapunov_variant(std::string_view word);

/// The leaves `probes.lyapunov.*`.
struct LyapunovOptions {
  ProbeSchedule schedule;
  SubspaceOptions subspace;    // exponents, oversampling, iterations, tolerance; and a seed
  std::int64_t sequences = 8;  // of the probe set, from the first one on
  std::int64_t batch = 8;      // of them at once at most: as many as a pass of training has
  std::vector<LyapunovVariant> variants = {LyapunovVariant::Raw};
  std::int64_t influence_probes = 0;
  bool tong = false;  // the published procedure, see TongProcedure
  bool wide = false;  // with a copy of the weights in float64
};

}  // namespace depthgrid
