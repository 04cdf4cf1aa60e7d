#include "storage/variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace depthgrid {
namespace {

using enum DataType;

constexpr auto kVariables = std::to_array<Variable>({
    // Identity and parameters
    {"cell_alias", "cell", Text, "1", "readable name", "plan", "sweeps 3.2"},
    {"cell_row", "cell", Int64, "1", "row in the order of the file", "plan", "sweeps 3.2"},
    {"cell_status", "cell", Int8, "1",
     "flag: 0 pending, 1 running, 2 completed, 3 diverged, 4 failed, 5 cancelled, 6 oom; an "
     "interrupted cell is pending with attempts > 0",
     "at change", "slurm 3.6"},
    {"cell_config", "cell", Text, "1", "leaves that differ from default, canonical JSON", "plan",
     "sweeps 3.2"},
    {"structure_digest", "cell", Text, "1", "fusion key", "plan", "design 4"},
    {"arm", "cell", Text, "1", "label of the arm: all factors without the seed", "plan", "keys 12"},
    {"factor", "cell", Text, "1", "leaf changed from the baseline; empty for baseline and products",
     "plan", "keys 12"},
    {"is_baseline", "cell", Int8, "1", "flag: 1 = baseline arm", "plan", "keys 12"},
    {"replicate", "cell", Int32, "1", "index of the seed", "plan", "keys 12"},
    {"data_order_digest", "cell", Text, "1", "digest of the batch stream; equal = paired", "end",
     "numerics 6"},
    {"param_seed", "cell", Int64, "1", "seed", "plan", "keys 0"},
    {"param_data_seed", "cell", Int64, "1", "data seed", "plan", "keys 0"},
    {"param_model_family", "cell", Text, "1", "family", "plan", "keys 1.1"},
    {"n_parameters", "cell", Int64, "1", "unique trainable parameters", "plan", "models 5"},
    {"n_parameters_stored", "cell", Int64, "1", "stored parameters", "plan", "models 5"},
    {"n_parameters_effective", "cell", Int64, "1", "parameters of the unrolled network", "plan",
     "models 5"},
    {"n_parameters_group", "cell, parameter_group", Int64, "1", "parameters by group", "plan",
     "models 5"},
    {"n_steps", "cell", Int64, "1", "valid entries on step", "at publish", "store-format"},
    {"n_evals", "cell", Int64, "1", "valid entries on eval_step", "at publish", "store-format"},
    {"n_probes", "cell", Int64, "1", "valid entries on probe_step", "at publish", "store-format"},
    {"n_depth", "cell", Int32, "1", "valid entries on depth", "plan", "store-format"},
    {"n_layer", "cell", Int32, "1", "valid entries on layer", "plan", "store-format"},
    {"n_position", "cell", Int32, "1", "valid entries on token_position (T)", "plan",
     "store-format"},
    {"depth_time", "cell, depth", Float64, "1", "depth-time t at which the step is evaluated",
     "plan", "resolutions 4"},
    {"depth_edge_time", "cell, depth_edge", Float64, "1", "depth-time of the state", "plan",
     "resolutions 4"},
    {"depth_layer", "cell, depth", Int32, "1", "block that makes the step", "plan", "models 3"},
    {"time_feature_rank", "cell", Int32, "1", "rank of the time features on the grid of nodes",
     "plan", "resolutions 5"},
    // Training series
    {"train_loss", "cell, step", Float32, "nat", "language-model loss on the batch", "every step",
     "data 5"},
    {"train_loss_total", "cell, step", Float32, "nat", "optimised loss with all terms",
     "every step", "tdt 6 D34"},
    {"train_learning_rate", "cell, step", Float32, "1", "learning rate of the trunk", "every step",
     "keys 3"},
    {"train_grad_norm", "cell, step", Float32, "1", "gradient norm before clip", "every step",
     "resolutions 14"},
    {"train_grad_norm_clipped", "cell, step", Float32, "1", "gradient norm after clip",
     "every step", "resolutions 14"},
    {"train_clip_factor", "cell, step", Float32, "1", "factor applied by the clip", "every step",
     "controlled-depth 2.1"},
    {"train_grad_norm_group", "cell, step, parameter_group", Float32, "1",
     "gradient norm before clip, by group", "every step", "controlled-depth 2.1"},
    {"train_grad_norm_group_clipped", "cell, step, parameter_group", Float32, "1",
     "gradient norm after clip, by group", "every step", "controlled-depth 2.1"},
    {"train_tokens", "cell, step", Int64, "1", "tokens seen, cumulative", "every step", "data 4"},
    {"train_epoch", "cell, step", Float32, "1", "passes over the training tokens", "every step",
     "data 4"},
    {"train_wall_time", "cell, step", Float64, "s", "time in training of all attempts, cumulative",
     "every step", "performance 8"},
    {"train_loss_scale", "cell, step", Float32, "1", "loss scale", "every step", "keys 3"},
    {"train_nonfinite", "cell, step", Int8, "1", "flag: 1 = non-finite, update masked",
     "every step", "design 4"},
    {"train_update_norm", "cell, step", Float32, "1", "norm of the parameter update", "every step",
     "performance 2.2"},
    {"train_parameter_norm", "cell, step", Float32, "1", "norm of the parameters", "every step",
     "performance 2.2"},
    {"residual_scale", "cell, step, depth", Float32, "1", "Δt in force at each depth step",
     "every step if learned, else first", "keys 1.2"},
    {"stopped_at", "cell", Int64, "1", "last step made; -1 = none", "end", "keys 3"},
    {"diverged_at", "cell", Int64, "1", "step of divergence; -1 = none", "at event", "design 4"},
    {"train_loss_last50", "cell", Float32, "nat", "mean loss of the last 50 steps", "end",
     "controlled-depth 2.1"},
    // Evaluation
    {"eval_loss", "cell, eval_step, split", Float32, "nat", "mean loss per token", "eval",
     "data 5"},
    {"eval_loss_error", "cell, eval_step, split", Float32, "nat", "standard error over windows",
     "eval", "data 5"},
    {"eval_tokens", "cell, eval_step, split", Int64, "1", "tokens evaluated", "eval", "data 5"},
    {"eval_perplexity", "cell, eval_step, split", Float32, "1", "exp of the loss", "eval",
     "data 5"},
    {"eval_bits_per_byte", "cell, eval_step, split", Float32, "bit", "bits per UTF-8 byte", "eval",
     "data 5"},
    {"eval_accuracy", "cell, eval_step, split", Float32, "1", "next-token accuracy", "eval",
     "data 5"},
    {"eval_loss_position", "cell, eval_step, split, token_position", Float32, "nat",
     "loss by position", "eval, by_position", "data 5"},
    {"eval_loss_published", "cell, eval_step", Float32, "nat", "loss on 80 random windows",
     "eval, published_1", "data 5"},
    {"best_loss", "cell, split", Float32, "nat", "lowest evaluation loss", "eval", "numerics 6"},
    {"best_step", "cell, split", Int64, "1", "its step", "eval", "numerics 6"},
    {"final_loss", "cell, split", Float64, "nat", "mean loss, all windows, last weights", "end",
     "data 5"},
    {"final_loss_error", "cell, split", Float64, "nat", "standard error over windows", "end",
     "data 5"},
    {"final_tokens", "cell, split", Int64, "1", "tokens", "end", "data 5"},
    {"final_bits_per_byte", "cell, split", Float64, "bit", "bits per UTF-8 byte", "end", "data 5"},
    {"final_perplexity", "cell, split", Float64, "1", "perplexity", "end", "data 5"},
    // Cost, memory, time
    {"cost_flops_token", "cell", Float64, "1", "forward floating-point operations per token, dense",
     "plan", "performance 6"},
    {"cost_flops_token_executed", "cell", Float64, "1",
     "forward floating-point operations per token, as executed by the default decider", "end",
     "tdt 4"},
    {"cost_flops_total", "cell", Float64, "1", "operations of the training", "end",
     "performance 6"},
    {"cost_tokens_per_second", "cell", Float32, "s-1", "training throughput of the cell's share",
     "end", "performance 8"},
    {"cost_step_time_p50", "cell", Float32, "s", "median time of a step of the job over its cells",
     "end", "performance 8"},
    {"cost_step_time_p95", "cell", Float32, "s", "95 % quantile", "end", "performance 8"},
    {"cost_wall_time", "cell", Float64, "s", "wall time of all attempts", "end", "sweeps 4.14"},
    {"cost_device_time", "cell", Float64, "s", "device time charged: ranks × time / E", "end",
     "sweeps 4.14"},
    {"cost_device_time_lost", "cell", Float64, "s", "device time redone after interruptions", "end",
     "sweeps 4.14"},
    {"cost_eval_time", "cell", Float64, "s", "time in evaluation", "end", "performance 8"},
    {"cost_checkpoint_time", "cell", Float64, "s", "time stalled by checkpoints", "end",
     "performance 8"},
    {"cost_memory_peak", "cell", Float64, "byte", "peak device memory of the job over its cells",
     "end", "performance 8"},
    {"cost_memory_activations", "cell", Float64, "byte", "peak of activations of the cell", "end",
     "numerics 1.4"},
    {"cost_memory_host", "cell", Float64, "byte", "peak resident memory of a rank", "end",
     "performance 8"},
    {"predicted_wall_time", "cell", Float64, "s", "planner's prediction", "plan", "sweeps 4.6"},
    {"predicted_bytes", "cell", Float64, "byte", "planner's prediction of stored bytes", "plan",
     "sweeps 4.6"},
    // Attempts, events, provenance
    {"job_cells", "job", Int32, "1", "cells fused (E)", "plan", "design 4"},
    {"job_ranks", "job", Int32, "1", "ranks (R)", "start", "design 6"},
    {"attempt_cell", "attempt", Text, "1", "cell", "at start", "storage 1.8"},
    {"attempt_job", "attempt", Text, "1", "fused job", "at start", "design 4"},
    {"attempt_generation", "attempt", Int32, "1", "lease generation", "at start", "slurm 3.5"},
    {"attempt_first_step", "attempt", Int64, "1", "step resumed from", "at start", "storage 2"},
    {"attempt_last_step", "attempt", Int64, "1", "last step journalled", "at end", "storage 1.8"},
    {"attempt_start", "attempt", Float64, kInstantUnits, "start", "at start", "storage 1.8"},
    {"attempt_end", "attempt", Float64, kInstantUnits, "end", "at end", "storage 1.8"},
    {"attempt_outcome", "attempt", Int8, "1",
     "flag: 0 done, 1 preempted, 2 crash, 3 hang, 4 oom, 5 infrastructure, 6 error, 7 deposed, 8 "
     "diverged",
     "at end", "slurm 3.6"},
    {"attempt_exit_code", "attempt", Int32, "1", "exit code; -1 = unknown", "at end", "sweeps 3.7"},
    {"attempt_host", "attempt", Text, "1", "first host", "at start", "storage 1.8"},
    {"attempt_device", "attempt", Text, "1", "device model and count", "at start", "storage 1.8"},
    {"attempt_scheduler_id", "attempt", Text, "1", "Slurm job and task; empty = none", "at start",
     "slurm 5"},
    {"attempt_code_version", "attempt", Text, "1", "git hash and state", "at start", "storage 2.1"},
    {"attempt_environment", "attempt", Text, "1", "allow-listed variables, JSON", "at start",
     "storage 4"},
    {"replayed_steps", "cell", Int64, "1", "steps recomputed after crashes", "end", "storage 2.4"},
    {"replay_mismatches", "cell", Int64, "1", "of these, not bit-equal", "end", "storage 2.4"},
    {"event_cell", "event", Text, "1", "cell", "at event", "storage 1.8"},
    {"event_step", "event", Int64, "1", "step", "at event", "storage 1.8"},
    {"event_time", "event", Float64, kInstantUnits, "instant", "at event", "storage 1.8"},
    {"event_kind", "event", Int8, "1",
     "flag: 0 resume seam, 1 checkpoint, 2 checkpoint rejected, 3 diverged, 4 failure, 5 early "
     "stop, 6 lease lost, 7 team size changed, 8 solver status, 9 phase change, 10 warning",
     "at event", "slurm 3.6"},
    {"event_value", "event", Float64, "1", "number of the event (seam: loss difference)",
     "at event", "sweeps 4.8"},
    {"event_message", "event", Text, "1", "text", "at event", "slurm 3.6"},
    {"weights_sha256", "cell", Text, "1", "digest of the final weights", "end", "storage 2"},
    {"result_sha256", "cell", Text, "1", "seal of the cell's result.h5", "pack", "storage 1.8"},
    {"tokens_sha256", "cell", Text, "1", "digest of the training tokens", "start", "data 2"},
    {"precision_settings", "cell", Text, "1", "dtype, TF32, determinism, threads, NCCL algorithm",
     "start", "storage 2.1"},
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
