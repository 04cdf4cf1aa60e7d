#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/cells/cell_set.hpp"
#include "core/data/dataset.hpp"
#include "core/data/labels/corpus_labels.hpp"
#include "core/data/sampler.hpp"
#include "core/data/steering/steering_prompts.hpp"
#include "core/train/batch_source.hpp"
#include "sweeps/queue/job_queue.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/session/run_context.hpp"

namespace depthgrid {

/// A fused job in training: its cells, their model and their data. All services of its session
/// refer to it.
struct TrainedJob {
  /// @param context  outlives this. @throws UserError if the corpus cannot be read.
  TrainedJob(RunContext& context, SessionJob what);

  RunContext& run;
  SessionJob job;
  std::vector<const CellConfig*> configs;
  std::shared_ptr<const Dataset> data;
  FusedModel fused;
  Sampler sampler;
  std::vector<std::shared_ptr<const CorpusLabels>> labels;  // (E) with train.task: control
  /// (E) of the training text, as a cell is trained on them: shuffled or constant in its controls.
  std::vector<std::shared_ptr<const SentenceLabels>> training_labels;
  std::vector<SteeringTokens> prompts;  // with train.task: steering
  CellSet cells;

  /// The windows on which the cells are trained and, with labels, their signals; or their prompts.
  std::unique_ptr<BatchSource> batches() const;

  CellStatus status(std::size_t e) const { return cells.status(static_cast<std::int64_t>(e)); }
  bool running(std::size_t e) const { return status(e) == CellStatus::Running; }
  /// Number of running cells.
  std::int64_t running() const;
  std::int64_t steps() const noexcept { return fused.train.steps; }
  /// Tokens of one cell after `step` steps.
  double tokens(std::int64_t step) const {
    const std::int64_t each = prompts.empty() ? sampler.seq_len() : longest_prompt(prompts);
    return static_cast<double>(step * fused.train.batch * each);
  }
};

}  // namespace depthgrid
