#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/config/probe_schedule.hpp"
#include "core/probe/lyapunov/depth_spectrum.hpp"
#include "core/probe/lyapunov/finite_time.hpp"
#include "core/probe/probe.hpp"

namespace depthgrid {

class ProbeSubject;

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

/// Finite-time Lyapunov exponents of the depth, σ_i = ln s_i(D) / (τ_L − τ_0), with D = DΦ, at some
/// sequences of the probe set; exponents are averaged over sequences, tangent vectors never are.
///
/// Sequences whose map is not finite are left out; a cell without any has NaN. Iterations,
/// convergence, determinant and dimension are those of the raw map Φ, whichever variants are asked
/// for; error and bound are those of each variant. Draws are its own, so that the training keeps
/// its bits.
class LyapunovProbe final : public Probe {
 public:
  /// @param subject  must outlive the probe.
  /// @throws Error without variants or sequences, or if the probe set has fewer sequences.
  LyapunovProbe(const ProbeSubject& subject, LyapunovOptions options);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return options_.schedule; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  /// Places in `series_`.
  enum Series : std::uint8_t {
    kExponent,
    kExponentStd,
    kExponentError,
    kExponentBound,
    kLogStretch,
    kIterations,
    kConverged,
    kSequences,
    kUpperBound,
    kLogDet,
    kKaplanYorke,
    kBatchMax,
    kLocalStretch,
    kLocalRate,
    kLogNorm,
    kInfluence,
    kTong,
    kSeriesCount
  };

  /// All sequences, some at a time: as many as fit whatever the number of cells is, and no more
  /// than a pass of training has.
  DepthSpectrum observe() const;
  void write_variants(std::int64_t cell, double span, const DepthSpectrum& found,
                      RecordSink& out) const;
  void write_map(std::int64_t cell, double span, const DepthSpectrum& found, RecordSink& out) const;
  void write_steps(std::int64_t cell, const at::Tensor& times, const DepthSpectrum& found,
                   RecordSink& out) const;
  void put(Series series, std::int64_t cell, std::span<const double> values, RecordSink& out) const;

  const ProbeSubject& subject_;
  LyapunovOptions options_;
  std::array<std::size_t, kSeriesCount> series_{};
};

}  // namespace depthgrid
