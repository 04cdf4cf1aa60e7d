#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kArenaStep = "core/train/optimizer/arena_step.hpp";
constexpr std::string_view kTrainer = "core/train/trainer.hpp";
constexpr std::string_view kSampler = "core/data/sampler.hpp";

constexpr Variable kTrainVariables[] = {
    {"train_loss", "cell, step", Float32, "nat", "language-model loss on the batch", "every step",
     kTrainer},
    {"train_loss_total", "cell, step", Float32, "nat", "optimised loss with all terms",
     "every step", kTrainer},
    {"train_learning_rate", "cell, step", Float32, "1", "learning rate of the trunk", "every step",
     "core/train/lr_schedule.hpp"},
    {"train_grad_norm", "cell, step", Float32, "1", "gradient norm before clip", "every step",
     kArenaStep},
    {"train_grad_norm_clipped", "cell, step", Float32, "1", "gradient norm after clip",
     "every step", kArenaStep},
    {"train_clip_factor", "cell, step", Float32, "1", "factor applied by the clip", "every step",
     kArenaStep},
    {"train_grad_norm_group", "cell, step, parameter_group", Float32, "1",
     "gradient norm before clip, by group", "every step", kArenaStep},
    {"train_grad_norm_group_clipped", "cell, step, parameter_group", Float32, "1",
     "gradient norm after clip, by group", "every step", kArenaStep},
    {"train_tokens", "cell, step", Int64, "1", "tokens seen, cumulative", "every step", kSampler},
    {"train_epoch", "cell, step", Float32, "1", "passes over the training tokens", "every step",
     kSampler},
    {"train_wall_time", "cell, step", Float64, "s",
     "time of the cell's jobs in training, all attempts, cumulative", "every step",
     "worker/session/session_recorder.hpp"},
    {"train_loss_scale", "cell, step", Float32, "1", "loss scale", "every step",
     "docs/configuration.md, Training"},
    {"train_nonfinite", "cell, step", Int8, "1", "flag: 1 = non-finite, update masked",
     "every step", kTrainer},
    {"train_update_norm", "cell, step", Float32, "1", "norm of the parameter update", "every step",
     kArenaStep},
    {"train_parameter_norm", "cell, step", Float32, "1", "norm of the parameters", "every step",
     kArenaStep},
    {"train_loss_tpn", "cell, step", Float32, "1",
     "loss of the transition networks, mean over layers and tokens, before its weight",
     "every step", "models/families/tdt.hpp", true},
    {"train_loss_causal", "cell, step", Float32, "nat",
     "loss of the causal routers, mean over layers and tokens, before its weight", "every step",
     "models/families/tdt.hpp", true},
    {"train_loss_predictor", "cell, step", Float32, "nat",
     "loss of the predictors of Mixture-of-Depths, before its weight", "every step",
     "models/families/mod.hpp", true},
    {"alpha", "cell, step", Float32, "1", "output scale α of the field of a flow", "every step",
     "models/blocks/flow.hpp", true},
    {"residual_scale", "cell, step, depth", Float32, "1", "Δt in force at each depth step",
     "every step if learned, else first", "core/depth/depth_grid.hpp", true},
    {"train_field_evaluations", "cell", Int64, "1",
     "evaluations of the field in one pass forward; the backward pass adds none", "plan",
     "core/depth/integrator.hpp"},
    {"stopped_at", "cell", Int64, "1", "last step made; -1 = none", "end",
     "worker/session/cell_recorder.hpp"},
    {"diverged_at", "cell", Int64, "1", "step of divergence; -1 = none", "at event", kTrainer},
    {"train_loss_contrastive", "cell, step", Float32, "nat",
     "loss by which a sentence's likelihoods under u = ±1 predict its label",
     "every step, train.control.contrastive", "models/control_objective.hpp", true},
    {"train_loss_attribute", "cell, step", Float32, "nat",
     "loss of the label that the expected words have, under a drawn u",
     "every step, train.control.attribute", "models/control_objective.hpp", true},
    {"train_loss_anchor", "cell, step", Float32, "nat",
     "divergence at u = 0 from the model at the start, per token",
     "every step, train.control.anchor", "models/control_objective.hpp", true},
    {"train_loss_last50", "cell", Float32, "nat", "mean loss of the last 50 steps", "end",
     "worker/session/cell_recorder.hpp"},
};

std::span<const Variable> train_variables() {
  return kTrainVariables;
}

}  // namespace depthgrid
