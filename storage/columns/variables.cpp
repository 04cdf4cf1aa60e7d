#include "storage/columns/variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace depthgrid {
namespace {

using enum DataType;

constexpr auto kVariables = std::to_array<Variable>({
    // Identity and parameters
    {"cell_alias", "cell", Text, "1", "readable name", "plan", "docs/configuration.md"},
    {"cell_row", "cell", Int64, "1", "row in the order of the file", "plan",
     "docs/configuration.md"},
    {"cell_status", "cell", Int8, "1",
     "flag: 0 pending, 1 running, 2 completed, 3 diverged, 4 failed, 5 cancelled, 6 oom; an "
     "interrupted cell is pending with attempts > 0",
     "at change", "docs/cli.md, JSON"},
    {"cell_config", "cell", Text, "1", "leaves that differ from default, canonical JSON", "plan",
     "docs/configuration.md"},
    {"structure_digest", "cell", Text, "1", "fusion key", "plan",
     "docs/architecture.md, From YAML to HDF5 in nine hops"},
    {"arm", "cell", Text, "1", "label of the arm: all factors without the seed", "plan",
     "docs/configuration.md"},
    {"factor", "cell", Text, "1", "leaf changed from the baseline; empty for baseline and products",
     "plan", "docs/configuration.md"},
    {"is_baseline", "cell", Int8, "1", "flag: 1 = baseline arm", "plan", "docs/configuration.md"},
    {"replicate", "cell", Int32, "1", "index of the seed", "plan", "docs/configuration.md"},
    {"data_order_digest", "cell", Text, "1", "digest of the batch stream; equal = paired", "end",
     "core/data/sampler.hpp"},
    {"param_seed", "cell", Int64, "1", "seed", "plan", "docs/configuration.md"},
    {"param_data_seed", "cell", Int64, "1", "data seed", "plan", "docs/configuration.md"},
    {"param_model_family", "cell", Text, "1", "family", "plan", "docs/configuration.md"},
    {"n_parameters", "cell", Int64, "1", "unique trainable parameters", "plan",
     "core/train/optimizer/parameter_layout.hpp"},
    {"n_parameters_stored", "cell", Int64, "1", "stored parameters", "plan",
     "core/train/optimizer/parameter_layout.hpp"},
    {"n_parameters_effective", "cell", Int64, "1", "parameters of the unrolled network", "plan",
     "models/cost_model.hpp"},
    {"n_parameters_group", "cell, parameter_group", Int64, "1", "parameters by group", "plan",
     "core/train/optimizer/parameter_layout.hpp"},
    {"n_steps", "cell", Int64, "1", "valid entries on step", "at publish",
     "docs/store-format.md, Reading results"},
    {"n_evals", "cell", Int64, "1", "valid entries on eval_step", "at publish",
     "docs/store-format.md, Reading results"},
    {"n_probes", "cell", Int64, "1", "valid entries on probe_step", "at publish",
     "docs/store-format.md, Reading results"},
    {"n_depth", "cell", Int32, "1", "valid entries on depth", "plan",
     "docs/store-format.md, Reading results"},
    {"n_layer", "cell", Int32, "1", "valid entries on layer", "plan",
     "docs/store-format.md, Reading results"},
    {"n_position", "cell", Int32, "1", "valid entries on token_position (T)", "plan",
     "docs/store-format.md, Reading results"},
    {"depth_time", "cell, depth", Float64, "1", "depth-time t at which the step is evaluated",
     "plan", "core/depth/depth_grid.hpp"},
    {"depth_edge_time", "cell, depth_edge", Float64, "1", "depth-time of the state", "plan",
     "core/depth/depth_grid.hpp"},
    {"depth_layer", "cell, depth", Int32, "1", "block that makes the step", "plan",
     "core/depth/depth_grid.hpp"},
    {"time_feature_rank", "cell", Int32, "1", "rank of the time features on the grid of nodes",
     "plan", "models/blocks/time_features.hpp"},
    // Training series
    {"train_loss", "cell, step", Float32, "nat", "language-model loss on the batch", "every step",
     "core/train/trainer.hpp"},
    {"train_loss_total", "cell, step", Float32, "nat", "optimised loss with all terms",
     "every step", "core/train/trainer.hpp"},
    {"train_learning_rate", "cell, step", Float32, "1", "learning rate of the trunk", "every step",
     "core/train/lr_schedule.hpp"},
    {"train_grad_norm", "cell, step", Float32, "1", "gradient norm before clip", "every step",
     "core/train/optimizer/cell_adam.hpp"},
    {"train_grad_norm_clipped", "cell, step", Float32, "1", "gradient norm after clip",
     "every step", "core/train/optimizer/cell_adam.hpp"},
    {"train_clip_factor", "cell, step", Float32, "1", "factor applied by the clip", "every step",
     "core/train/optimizer/cell_adam.hpp"},
    {"train_grad_norm_group", "cell, step, parameter_group", Float32, "1",
     "gradient norm before clip, by group", "every step", "core/train/optimizer/cell_adam.hpp"},
    {"train_grad_norm_group_clipped", "cell, step, parameter_group", Float32, "1",
     "gradient norm after clip, by group", "every step", "core/train/optimizer/cell_adam.hpp"},
    {"train_tokens", "cell, step", Int64, "1", "tokens seen, cumulative", "every step",
     "core/data/sampler.hpp"},
    {"train_epoch", "cell, step", Float32, "1", "passes over the training tokens", "every step",
     "core/data/sampler.hpp"},
    {"train_wall_time", "cell, step", Float64, "s", "time in training of all attempts, cumulative",
     "every step", "worker/run/session_recorder.hpp"},
    {"train_loss_scale", "cell, step", Float32, "1", "loss scale", "every step",
     "docs/configuration.md, Training"},
    {"train_nonfinite", "cell, step", Int8, "1", "flag: 1 = non-finite, update masked",
     "every step", "core/train/trainer.hpp"},
    {"train_update_norm", "cell, step", Float32, "1", "norm of the parameter update", "every step",
     "core/train/optimizer/cell_adam.hpp"},
    {"train_parameter_norm", "cell, step", Float32, "1", "norm of the parameters", "every step",
     "core/train/optimizer/cell_adam.hpp"},
    {"train_loss_tpn", "cell, step", Float32, "1",
     "loss of the transition networks, mean over layers and tokens, before its weight",
     "every step", "models/families/tdt.hpp"},
    {"train_loss_causal", "cell, step", Float32, "nat",
     "loss of the causal routers, mean over layers and tokens, before its weight", "every step",
     "models/families/tdt.hpp"},
    {"train_loss_predictor", "cell, step", Float32, "nat",
     "loss of the predictors of Mixture-of-Depths, before its weight", "every step",
     "models/families/mod.hpp"},
    {"residual_scale", "cell, step, depth", Float32, "1", "Δt in force at each depth step",
     "every step if learned, else first", "core/depth/depth_grid.hpp"},
    {"stopped_at", "cell", Int64, "1", "last step made; -1 = none", "end",
     "worker/run/cell_recorder.hpp"},
    {"diverged_at", "cell", Int64, "1", "step of divergence; -1 = none", "at event",
     "core/train/trainer.hpp"},
    {"train_loss_last50", "cell", Float32, "nat", "mean loss of the last 50 steps", "end",
     "worker/run/cell_recorder.hpp"},
    // Evaluation
    {"eval_loss", "cell, eval_step, split", Float32, "nat", "mean loss per token", "eval",
     "core/train/evaluation.hpp"},
    {"eval_loss_error", "cell, eval_step, split", Float32, "nat", "standard error over windows",
     "eval", "core/train/evaluation.hpp"},
    {"eval_tokens", "cell, eval_step, split", Int64, "1", "tokens evaluated", "eval",
     "core/train/evaluation.hpp"},
    {"eval_perplexity", "cell, eval_step, split", Float32, "1", "exp of the loss", "eval",
     "core/train/evaluation.hpp"},
    {"eval_bits_per_byte", "cell, eval_step, split", Float32, "bit", "bits per UTF-8 byte", "eval",
     "core/train/evaluation.hpp"},
    {"eval_accuracy", "cell, eval_step, split", Float32, "1", "next-token accuracy", "eval",
     "core/train/evaluation.hpp"},
    {"eval_loss_position", "cell, eval_step, split, token_position", Float32, "nat",
     "loss by position", "eval, by_position", "core/train/evaluation.hpp"},
    {"eval_loss_published", "cell, eval_step", Float32, "nat", "loss on 80 random windows",
     "eval, published_1", "docs/configuration.md, Evaluation"},
    {"eval_loss_mode", "cell, eval_step, eval_mode", Float32, "nat",
     "loss by execution mode, split valid", "eval", "worker/eval/mode_evaluation.hpp"},
    {"eval_mode_noncausal", "cell, eval_mode", Int8, "1",
     "flag: 0 causal, 1 sees the future and is no validation figure", "plan",
     "models/context/execution_mode.hpp"},
    {"eval_executed_share", "cell, eval_step, eval_mode", Float32, "1",
     "executed share of the tokens of layers that may skip", "eval",
     "worker/eval/mode_evaluation.hpp"},
    {"eval_mismatch_gap", "cell, eval_step", Float32, "nat",
     "loss of the student less that of its teacher", "eval", "worker/eval/mode_evaluation.hpp"},
    {"best_loss", "cell, split", Float32, "nat", "lowest evaluation loss", "eval",
     "worker/run/cell_recorder.hpp"},
    {"best_step", "cell, split", Int64, "1", "its step", "eval", "worker/run/cell_recorder.hpp"},
    {"final_loss", "cell, split", Float64, "nat", "mean loss, all windows, last weights", "end",
     "core/train/evaluation.hpp"},
    {"final_loss_error", "cell, split", Float64, "nat", "standard error over windows", "end",
     "core/train/evaluation.hpp"},
    {"final_tokens", "cell, split", Int64, "1", "tokens", "end", "core/train/evaluation.hpp"},
    {"final_bits_per_byte", "cell, split", Float64, "bit", "bits per UTF-8 byte", "end",
     "core/train/evaluation.hpp"},
    {"final_perplexity", "cell, split", Float64, "1", "perplexity", "end",
     "core/train/evaluation.hpp"},
    {"final_loss_mode", "cell, eval_mode", Float64, "nat",
     "mean loss by execution mode, split valid, last weights", "end",
     "worker/eval/mode_evaluation.hpp"},
    {"final_executed_share", "cell, eval_mode", Float32, "1",
     "executed share of the tokens of layers that may skip", "end",
     "worker/eval/mode_evaluation.hpp"},
    // Layers that skip tokens
    {"tdt_d_st_mean", "cell, probe_step, layer", Float32, "1", "static surprise D_st, mean", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_d_st_std", "cell, probe_step, layer", Float32, "1", "D_st, spread", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_d_st_p50", "cell, probe_step, layer", Float32, "1", "D_st, median", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_d_st_p99", "cell, probe_step, layer", Float32, "1", "D_st, 99 % quantile", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_d_st_max", "cell, probe_step, layer", Float32, "1", "D_st, maximum", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_d_ch_mean", "cell, probe_step, layer", Float32, "1", "change surprise D_ch, mean", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_d_ch_std", "cell, probe_step, layer", Float32, "1", "D_ch, spread", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_ma_mean", "cell, probe_step, layer", Float32, "1", "moving average of D_st", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_predicted_share", "cell, probe_step, layer", Float32, "1", "share with D_ch < D_st",
     "eval", "models/routing/routing_statistics.hpp"},
    {"tdt_ce_mean", "cell, probe_step, layer", Float32, "1", "criterion CE, mean", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_cu_mean", "cell, probe_step, layer", Float32, "1", "criterion CU, mean", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_ce_positive", "cell, probe_step, layer", Float32, "1", "share with CE > 0", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_cu_positive", "cell, probe_step, layer", Float32, "1", "share with CU > 0", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_ce_mean", "cell, probe_step, layer", Float32, "1", "S_CE, mean", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_ce_std", "cell, probe_step, layer", Float32, "1", "S_CE, spread", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_ce_min", "cell, probe_step, layer", Float32, "1", "S_CE, minimum", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_ce_max", "cell, probe_step, layer", Float32, "1", "S_CE, maximum", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_cu_mean", "cell, probe_step, layer", Float32, "1", "S_CU, mean", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_cu_std", "cell, probe_step, layer", Float32, "1", "S_CU, spread", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_cu_min", "cell, probe_step, layer", Float32, "1", "S_CU, minimum", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_s_cu_max", "cell, probe_step, layer", Float32, "1", "S_CU, maximum", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_g_mean", "cell, probe_step, layer", Float32, "1", "gate g, mean", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_g_std", "cell, probe_step, layer", Float32, "1", "gate g, spread", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_g_min", "cell, probe_step, layer", Float32, "1", "gate g, minimum", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_g_max", "cell, probe_step, layer", Float32, "1", "gate g, maximum", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_ce_share", "cell, probe_step, layer", Float32, "1",
     "share of CE in the score of selected tokens", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_ce_dominant", "cell, probe_step, layer", Float32, "1",
     "share of selected tokens with S_CE > S_CU", "eval", "models/routing/routing_statistics.hpp"},
    {"tdt_overlap_s_ce", "cell, probe_step, layer", Float32, "1",
     "overlap of TopK(g) with TopK(S_CE)", "eval", "models/routing/routing_statistics.hpp"},
    {"tdt_overlap_s_cu", "cell, probe_step, layer", Float32, "1",
     "overlap of TopK(g) with TopK(S_CU)", "eval", "models/routing/routing_statistics.hpp"},
    {"tdt_overlap_d_st", "cell, probe_step, layer", Float32, "1",
     "overlap of TopK(g) with TopK(D_st)", "eval", "models/routing/routing_statistics.hpp"},
    {"tdt_score_gap", "cell, probe_step, layer", Float32, "1", "score of rank k less rank k + 1",
     "eval", "models/routing/routing_statistics.hpp"},
    {"tdt_o_ce", "cell, probe_step, layer", Float32, "1", "effective o_ce", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_m_cu", "cell, probe_step, layer", Float32, "1", "effective m_cu", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_beta_ce", "cell, probe_step, layer", Float32, "1", "softplus(β_ce)", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tdt_beta_cu", "cell, probe_step, layer", Float32, "1", "softplus(β_cu)", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tpn_mse", "cell, probe_step, layer", Float32, "1",
     "prediction error of the transition network", "eval", "models/routing/routing_statistics.hpp"},
    {"tpn_mse_constant", "cell, probe_step, layer", Float32, "1",
     "error of the constant-mean predictor on the same batch", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tpn_mse_previous", "cell, probe_step, layer", Float32, "1",
     "error of the previous-residual predictor on the same batch", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tpn_skill", "cell, probe_step, layer", Float32, "1", "1 - D_ch/D_st", "eval",
     "models/routing/routing_statistics.hpp"},
    {"tpn_cosine", "cell, probe_step, layer", Float32, "1", "cosine of residual and prediction",
     "eval", "models/routing/routing_statistics.hpp"},
    {"router_bce", "cell, probe_step, layer", Float32, "nat", "cross-entropy, teacher states",
     "eval", "models/routing/routing_statistics.hpp"},
    {"router_bce_relative", "cell, probe_step, layer", Float32, "1",
     "cross-entropy over the entropy of the selected rate", "eval",
     "models/routing/routing_statistics.hpp"},
    {"router_accuracy", "cell, probe_step, layer", Float32, "1", "accuracy, teacher states", "eval",
     "models/routing/routing_statistics.hpp"},
    {"router_accuracy_student", "cell, probe_step, layer", Float32, "1", "accuracy, student states",
     "eval", "models/routing/routing_statistics.hpp"},
    {"router_precision", "cell, probe_step, layer", Float32, "1", "precision", "eval",
     "models/routing/routing_statistics.hpp"},
    {"router_recall", "cell, probe_step, layer", Float32, "1", "recall", "eval",
     "models/routing/routing_statistics.hpp"},
    {"router_f1", "cell, probe_step, layer", Float32, "1", "F1", "eval",
     "models/routing/routing_statistics.hpp"},
    {"router_auc", "cell, probe_step, layer", Float32, "1", "area under ROC, teacher states",
     "eval", "models/routing/routing_statistics.hpp"},
    {"router_auc_student", "cell, probe_step, layer", Float32, "1",
     "area under ROC, student states", "eval", "models/routing/routing_statistics.hpp"},
    {"router_ece", "cell, probe_step, layer", Float32, "1", "calibration error, 10 bins", "eval",
     "models/routing/routing_statistics.hpp"},
    {"router_probability_mean", "cell, probe_step, layer", Float32, "1",
     "mean predicted probability", "eval", "models/routing/routing_statistics.hpp"},
    {"router_topk_recall", "cell, probe_step, layer", Float32, "1",
     "overlap of TopK by the router with the teacher's mask", "eval",
     "models/routing/routing_statistics.hpp"},
    {"router_threshold", "cell, probe_step, layer", Float32, "1",
     "calibrated threshold, as a probability", "eval", "models/routing/calibration.hpp"},
    {"routing_capacity", "cell, probe_step, layer", Float32, "1", "share that the teacher selects",
     "eval", "models/routing/routing_statistics.hpp"},
    {"routing_rate", "cell, probe_step, layer, eval_mode", Float32, "1",
     "realised execution rate by mode", "eval", "worker/eval/mode_evaluation.hpp"},
    {"mod_router_weight_mean", "cell, probe_step, layer", Float32, "1",
     "gate of selected tokens, mean", "eval", "models/routing/routing_statistics.hpp"},
    {"mod_predictor_accuracy", "cell, probe_step, layer", Float32, "1", "accuracy of the predictor",
     "eval", "models/routing/routing_statistics.hpp"},
    {"mod_predictor_auc", "cell, probe_step, layer", Float32, "1",
     "area under ROC of the predictor", "eval", "models/routing/routing_statistics.hpp"},
    // Cost, memory, time
    {"cost_flops_token", "cell", Float64, "1", "forward floating-point operations per token, dense",
     "plan", "models/cost_model.hpp"},
    {"cost_flops_token_executed", "cell", Float64, "1",
     "forward floating-point operations per token, as executed by the default decider", "end",
     "models/cost_model.hpp"},
    {"cost_flops_total", "cell", Float64, "1", "operations of the training", "end",
     "models/cost_model.hpp"},
    {"cost_tokens_per_second", "cell", Float32, "s-1", "training throughput of the cell's share",
     "end", "worker/run/session_recorder.hpp"},
    {"cost_step_time_p50", "cell", Float32, "s", "median time of a step of the job over its cells",
     "end", "worker/run/session_recorder.hpp"},
    {"cost_step_time_p95", "cell", Float32, "s", "95 % quantile", "end",
     "worker/run/session_recorder.hpp"},
    {"cost_wall_time", "cell", Float64, "s", "wall time of all attempts", "end",
     "worker/run/session_recorder.hpp"},
    {"cost_device_time", "cell", Float64, "s", "device time charged: ranks × time / E", "end",
     "worker/run/session_recorder.hpp"},
    {"cost_device_time_lost", "cell", Float64, "s", "device time redone after interruptions", "end",
     "worker/run/session_recorder.hpp"},
    {"cost_eval_time", "cell", Float64, "s", "time in evaluation", "end",
     "worker/run/session_recorder.hpp"},
    {"cost_checkpoint_time", "cell", Float64, "s", "time stalled by checkpoints", "end",
     "worker/run/session_recorder.hpp"},
    {"cost_memory_peak", "cell", Float64, "byte",
     "peak memory of the job over its cells: of tensors on a GPU, of the process on the CPU", "end",
     "worker/process/memory_use.hpp"},
    {"cost_memory_activations", "cell", Float64, "byte", "peak of activations of the cell", "end",
     "models/cost_model.hpp"},
    {"cost_memory_host", "cell", Float64, "byte", "peak resident memory of the job's first rank",
     "end", "worker/process/memory_use.hpp"},
    {"predicted_wall_time", "cell", Float64, "s", "planner's prediction", "plan",
     "sweeps/plan/job_plan.hpp"},
    {"predicted_bytes", "cell", Float64, "byte", "planner's prediction of stored bytes", "plan",
     "sweeps/plan/stored_bytes.hpp"},
    // Audit
    {"audit_verdict", "cell, audit_check", Int8, "1",
     "flag: -1 not run, 0 pass, 1 warn, 2 fail, 3 off, 4 undecided", "before training",
     "docs/audit.md"},
    {"audit_value", "cell, audit_check", Float64, "1", "number behind the verdict",
     "before training", "docs/audit.md"},
    {"audit_threshold", "cell, audit_check", Float64, "1", "bound that the number is held against",
     "before training", "docs/audit.md"},
    {"audit_declaration", "cell", Text, "1", "modes that look ahead and why; empty = none",
     "before training", "docs/audit.md"},
    // Attempts, events, provenance
    {"job_cells", "job", Int32, "1", "cells fused (E)", "plan", "worker/process/provenance.hpp"},
    {"job_ranks", "job", Int32, "1", "ranks (R)", "start", "worker/process/provenance.hpp"},
    {"attempt_cell", "attempt", Text, "1", "cell", "at start", "storage/files/journal.hpp"},
    {"attempt_job", "attempt", Text, "1", "fused job", "at start", "worker/process/provenance.hpp"},
    {"attempt_generation", "attempt", Int32, "1", "lease generation", "at start",
     "storage/files/journal.hpp"},
    {"attempt_first_step", "attempt", Int64, "1", "step resumed from", "at start",
     "storage/files/journal.hpp"},
    {"attempt_last_step", "attempt", Int64, "1", "last step journalled", "at end",
     "storage/files/journal.hpp"},
    {"attempt_start", "attempt", Float64, kInstantUnits, "start", "at start",
     "worker/process/provenance.hpp"},
    {"attempt_end", "attempt", Float64, kInstantUnits, "end", "at end",
     "storage/files/journal.hpp"},
    {"attempt_outcome", "attempt", Int8, "1",
     "flag: 0 done, 1 preempted, 2 crash, 3 hang, 4 oom, 5 infrastructure, 6 error, 7 deposed, 8 "
     "diverged",
     "at end", "storage/files/journal.hpp"},
    {"attempt_exit_code", "attempt", Int32, "1", "exit code; -1 = unknown", "at end",
     "docs/cli.md, Exit codes"},
    {"attempt_host", "attempt", Text, "1", "first host", "at start",
     "worker/process/provenance.hpp"},
    {"attempt_device", "attempt", Text, "1", "device model and count", "at start",
     "worker/process/provenance.hpp"},
    {"attempt_scheduler_id", "attempt", Text, "1", "Slurm job and task; empty = none", "at start",
     "worker/process/provenance.hpp"},
    {"attempt_code_version", "attempt", Text, "1", "git hash and state", "at start",
     "worker/process/provenance.hpp"},
    {"attempt_environment", "attempt", Text, "1", "allow-listed variables, JSON", "at start",
     "worker/process/provenance.hpp"},
    {"replayed_steps", "cell", Int64, "1", "steps recomputed after crashes", "end",
     "storage/cells/cell_history.hpp"},
    {"replay_mismatches", "cell", Int64, "1", "of these, not bit-equal", "end",
     "storage/cells/cell_history.hpp"},
    {"event_cell", "event", Text, "1", "cell", "at event", "storage/files/journal.hpp"},
    {"event_step", "event", Int64, "1", "step", "at event", "storage/files/journal.hpp"},
    {"event_time", "event", Float64, kInstantUnits, "instant", "at event",
     "storage/files/journal.hpp"},
    {"event_kind", "event", Int8, "1",
     "flag: 0 resume seam, 1 checkpoint, 2 checkpoint rejected, 3 diverged, 4 failure, 5 early "
     "stop, 6 lease lost, 7 team size changed, 8 solver status, 9 phase change, 10 warning, 11 "
     "start weights",
     "at event", "storage/files/journal.hpp"},
    {"event_value", "event", Float64, "1",
     "number of the event (resume seam: loss of the first step less that of the step before)",
     "at event", "storage/files/journal.hpp"},
    {"event_message", "event", Text, "1", "text", "at event", "storage/files/journal.hpp"},
    {"weights_sha256", "cell", Text, "1", "digest of the final weights", "end",
     "docs/store-format.md, How a file comes to be"},
    {"start_weights", "cell", Text, "1",
     "what it started from: cell:<id>, file:<SHA-256 of the files>; empty = drawn", "start",
     "core/config/start_name.hpp"},
    {"start_weights_sha256", "cell", Text, "1",
     "weights_sha256 of the cell it started from; empty = none", "start",
     "worker/run/final_weights.hpp"},
    {"result_sha256", "cell", Text, "1", "seal of the cell's result.h5", "pack",
     "docs/store-format.md, How a file comes to be"},
    {"tokens_sha256", "cell", Text, "1", "digest of the training tokens", "start",
     "core/data/dataset.hpp"},
    {"precision_settings", "cell", Text, "1", "dtype, TF32, determinism, threads, NCCL algorithm",
     "start", "docs/configuration.md, Training"},
});

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    out.emplace_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// "residual | scale" must not end a cell of the table.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string_view kind_text(AxisKind kind) {
  constexpr std::array<std::string_view, 6> kTexts = {"one row a cell, in the order of the plan",
                                                      "union of the steps of all cells",
                                                      "as long as the longest cell",
                                                      "fixed",
                                                      "records of all cells, one after another",
                                                      "union of the names"};
  return kTexts[static_cast<std::size_t>(kind)];
}

}  // namespace

std::span<const Variable> variables() {
  return kVariables;
}

const Variable* find_variable(std::string_view name) {
  const auto at = std::ranges::find(kVariables, name, &Variable::name);
  return at == kVariables.end() ? nullptr : &*at;
}

std::vector<std::string> axes_of(const Variable& variable) {
  return split_at_commas(variable.dims);
}

std::vector<Flag> flags_of(std::string_view long_name) {
  constexpr std::string_view kPrefix = "flag:";
  std::vector<Flag> out;
  if (!long_name.starts_with(kPrefix)) return out;
  const std::string_view list =
      long_name.substr(kPrefix.size(), long_name.find(';') - kPrefix.size());
  for (const std::string& item : split_at_commas(list)) {
    const auto digits = item.find_first_not_of("-0123456789");
    if (digits == 0 || digits == std::string::npos) {  // "non-finite, update masked": one meaning
      if (!out.empty()) out.back().meaning += "_" + item;
    } else {
      const auto word = item.find_first_not_of(" =", digits);
      out.push_back({std::stoi(item.substr(0, digits)), item.substr(word)});
    }
  }
  for (Flag& flag : out) std::ranges::replace(flag.meaning, ' ', '_');
  return out;
}

std::string variables_markdown() {
  std::string out = "| axis | dtype | length | meaning |\n|---|---|---|---|\n";
  const auto cell = [&out](std::string_view text) { out += " " + escaped(text) + " |"; };
  for (const Dimension& d : dimensions()) {
    out += "| `" + std::string(d.name) + "` |";
    cell(name_of(d.type));
    cell(kind_text(d.kind));
    cell(d.long_name);
    out += "\n";
  }
  out += "\n| variable | axes | dtype | units | meaning | written | defined in |\n";
  out += "|---|---|---|---|---|---|---|\n";
  for (const Variable& v : kVariables) {
    out += "| `" + std::string(v.name) + "` |";
    cell(v.dims);
    cell(name_of(v.type));
    cell(v.units);
    cell(v.long_name);
    cell(v.schedule);
    cell(v.source);
    out += "\n";
  }
  return out;
}

}  // namespace depthgrid
