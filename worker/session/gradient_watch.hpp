#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/probe/gradients/training_gradients.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// Follows the gradients of layers at every step if the probe of gradients is on, which counts
/// steps between its looks. Its counts are kept in checkpoints.
class GradientWatch final : public SessionService {
 public:
  /// @param job  outlives this.
  explicit GradientWatch(const TrainedJob& job);

  /// What is known so far; null if the probe is off.
  const TrainingGradients* gradients() const { return gradients_ ? &*gradients_ : nullptr; }

  /// Lets `trainer` report what act() reads; does nothing if the probe is off.
  void attach(Trainer& trainer) const;

  bool due(std::int64_t /*step*/) const override { return gradients_.has_value(); }
  void act(const StepEvent& event) override;

  /// Counts of cell e for its checkpoint, and from one; those of a checkpoint without them, of an
  /// earlier build or with the probe off, are not known.
  void save(std::size_t e, std::map<std::string, double>& numbers) const;
  void restore(std::size_t e, const std::map<std::string, double>& numbers);

 private:
  const TrainedJob& job_;
  std::optional<TrainingGradients> gradients_;
};

}  // namespace depthgrid
