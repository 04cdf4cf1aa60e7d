#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/probe/gradients/training_gradients.hpp"
#include "core/probe/probe.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid {

/// How the gradient of the loss changes on its way back through depth: the norm of ∂ℓ/∂H_l, where ℓ
/// is the mean loss per token of a sequence and the norm is over its tokens and channels; root mean
/// square over the sequences of the probe set. Before any clipping, which acts on parameters.
///
/// It is the gradient at the probe set, in evaluation mode, with every token executed: a property
/// of the model, not of the batch of a step.
///
/// Of a flow trained by its adjoint also the adjoint's error, of one under reversible Heun its
/// defect; with `norms` what regularisers name, of any field and signal: on the first sequences of
/// the probe set.
///
/// Of a job in training also what the step before the measurement was made with, its own batch's
/// gradient by the parameters of each layer: norm before and after the clip, and how many steps so
/// far were extreme (TrainingGradients).
class GradientsProbe final : public Probe {
 public:
  /// @param subject   outlives the probe. @param batch  sequences per pass, at least 1.
  /// @param training  outlives the probe; null: nothing is trained.
  /// @param norms     see above; without it, those that a regulariser of the training is of.
  GradientsProbe(const ProbeSubject& subject, ProbeSchedule schedule, std::int64_t batch,
                 const TrainingGradients* training = nullptr, bool norms = false);

  void declare(RecordSink& out) override;
  const ProbeSchedule& schedule() const override { return schedule_; }
  void measure(std::int64_t step, RecordSink& out) override;

 private:
  void write_training(RecordSink& out) const;
  void write_mode(RecordSink& out) const;

  const ProbeSubject& subject_;
  ProbeSchedule schedule_;
  std::int64_t batch_;
  const TrainingGradients* training_;
  bool norms_;
  std::size_t adjoint_ = 0, defect_ = 0, undone_ = 0;
  std::array<std::size_t, 2> spectral_{}, log_{};  // as estimated, converged
  std::size_t frobenius_ = 0, slope_ = 0;
  std::size_t norm_ = 0, layer_ = 0, clipped_ = 0, vanished_ = 0, exploded_ = 0, clips_ = 0;
};

}  // namespace depthgrid
