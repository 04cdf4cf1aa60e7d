#pragma once

#include <memory>

#include "models/control_objective.hpp"
#include "worker/session/final_weights.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// What a job minimises: the loss of its language model, with the further terms of `train.control`
/// where one has a weight, and all that these need.
class JobObjective {
 public:
  /// Classifiers of words are fitted on each cell's own training labels.
  /// @param job     outlives this.
  /// @param source  reads the weights of the cells that the job's cells started from.
  /// @throws UserError if they cannot be read.
  JobObjective(const TrainedJob& job, const WeightsReader& source);

  Objective& get() const { return with_terms_ ? *with_terms_ : language_; }

 private:
  Objective& language_;
  std::unique_ptr<Arena> start_weights_;
  std::unique_ptr<Model> start_;
  std::unique_ptr<ControlObjective> with_terms_;
};

}  // namespace depthgrid
