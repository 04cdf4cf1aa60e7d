#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"
#include "core/probe/trajectory/cell_trajectory.hpp"
#include "core/probe/trajectory/kept_states.hpp"

namespace depthgrid {

struct TrajectoryOptions {
  ProbeSchedule schedule;
  bool cka = true;  // between all pairs of depths; NaN below kLeastCkaTokens tokens
  /// Sequences per pass, rounded up to whole blocks of at least 128 tokens. The numbers do not
  /// depend on it.
  std::int64_t batch = 1;
  StateSelection kept = {};  // raw states, for RecordSink::keep()
};

/// How states move through depth: norms, velocities, angles and curvature of the paths of tokens by
/// class of token, the directions that the tokens fill at each depth, and the similarity of depths.
/// PathStatistics, TokenDistribution, Spectrum and debiased_cka() have the formulas.
class TrajectoryProbe final : public Probe {
 public:
  /// @param subject  must outlive the probe. Its depth and probe set must not change.
  /// @throws Error if `batch` is not positive
  TrajectoryProbe(const ProbeSubject& subject, TrajectoryOptions options);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return options_.schedule; }

  /// In float64, from the states on their device, cell by cell and block by block. Keeps the
  /// norms of all tokens, and per cell (L + 1)(L + 2) / 2 matrices (C, C) of doubles for CKA, else
  /// L + 1; with fewer tokens than channels the states instead. Raw states that are to be kept are
  /// those that the numbers are of.
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  TrajectorySizes sizes() const;

  const ProbeSubject& subject_;
  TrajectoryOptions options_;
  std::vector<std::size_t> series_;
};

}  // namespace depthgrid
