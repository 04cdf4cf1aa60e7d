#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "core/config/cell_config.hpp"
#include "core/probe/gradients/training_gradients.hpp"
#include "core/train/optimizer/arena.hpp"
#include "core/train/train_options.hpp"
#include "models/options/model_options.hpp"
#include "worker/session/probe_watch.hpp"

namespace depthgrid {

/// Follows the gradients of layers: those of the last step, and how many steps were extreme.
class GradientWatch final : public ProbeWatch {
 public:
  /// @param leaves  `probes.gradients.*`. All outlive this.
  GradientWatch(const CellConfig& leaves, const ModelOptions& model, const Arena& arena,
                const TrainOptions& train);

  /// What is known so far, of all cells.
  const TrainingGradients& gradients() const noexcept { return gradients_; }

  void attach(Trainer& trainer) const override;
  void step(const StepReport& report, const std::function<bool(std::size_t)>& made) override;
  void save(std::size_t e, std::map<std::string, double>& numbers) const override;
  void restore(std::size_t e, const std::map<std::string, double>& numbers) override;

 private:
  const ModelOptions& model_;
  const Arena& arena_;
  const TrainOptions& train_;
  TrainingGradients gradients_;
};

}  // namespace depthgrid
