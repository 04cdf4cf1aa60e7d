#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"
#include "core/probe/solver/solver_comparison.hpp"

namespace depthgrid {

/// The leaves `probes.solver.*`.
struct SolverOptions {
  ProbeSchedule schedule = {};
  std::vector<SolverMethod> methods = {SolverMethod::EulerM, SolverMethod::Euler2M,
                                       SolverMethod::Rk4, SolverMethod::Dopri5};
  AdaptiveOptions tolerances = {};
  bool negative_control = true;
};

/// Whether the part of the depth that should discretise a field does: how far the model's own steps
/// are from the solution of dH/dτ = f(H, τ), and whether methods converge to it at their order.
///
/// The reference H* is the adaptive method at a hundredth of the tolerances. Where it does not
/// reach τ = 1, what is measured against it is NaN, and the status of `dopri5` says why. All in
/// float64. The negative control is a chain of m independent layers that moves the states as far
/// (IndependentLayers): there, distances of Euler's steps look as good, and no order is observed.
/// `solver_continuous` is continuity() of rk4, and of the control where there is one;
/// `solver_own_divergence` is the distance of the model's own method and steps over the
/// displacement, `solver_invariant` invariance() of it.
/// `solver_velocity` is the speed of the reference along depth-time, by its dense output.
class SolverProbe final : public Probe {
 public:
  /// @param subject  outlives the probe; has a continuous part.
  /// @throws Error if `methods` is empty, or if there is no such part.
  SolverProbe(const ProbeSubject& subject, SolverOptions options);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return options_.schedule; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  enum Series : std::uint8_t {
    kState,
    kDisplacement,
    kOrder,
    kEvaluations,
    kAccepted,
    kRejected,
    kStatus,
    kReached,
    kDivergence,
    kLoss,
    kControlDivergence,
    kControlOrder,
    kContinuous,
    kOwn,
    kInvariant,
    kVelocity,
    kSeries
  };

  void write(Series series, const std::vector<std::vector<double>>& by_cell, RecordSink& out) const;
  /// @return the runs on the control.
  std::vector<MethodRun> write_control(const at::Tensor& start, const at::Tensor& reference,
                                       std::int64_t steps, RecordSink& out) const;
  void write_velocity(const VectorField& field, const std::vector<at::Tensor>& states,
                      RecordSink& out) const;
  void write_verdicts(const std::vector<MethodRun>& runs, const std::vector<MethodRun>& control,
                      const std::vector<double>& own, RecordSink& out) const;

  const ProbeSubject& subject_;
  SolverOptions options_;
  std::array<std::size_t, kSeries> series_{};
};

}  // namespace depthgrid
