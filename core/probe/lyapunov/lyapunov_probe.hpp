#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/probe/lyapunov/depth_spectrum.hpp"
#include "core/probe/lyapunov/lyapunov_options.hpp"
#include "core/probe/probe.hpp"

namespace depthgrid {

class ProbeSubject;

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
  void look(std::int64_t step, RecordSink& out) override;

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
