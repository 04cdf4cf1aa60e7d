#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kCostModel = "models/cost_model.hpp";
constexpr std::string_view kMemoryUse = "worker/process/memory_use.hpp";
constexpr std::string_view kRecorder = "worker/session/session_recorder.hpp";

constexpr Variable kCostVariables[] = {
    {"cost_flops_token", "cell", Float64, "1", "forward floating-point operations per token, dense",
     "plan", kCostModel},
    {"cost_flops_token_executed", "cell", Float64, "1",
     "forward floating-point operations per token, as executed by the default decider", "end",
     kCostModel},
    {"cost_flops_total", "cell", Float64, "1", "operations of the training", "end", kCostModel},
    {"cost_tokens_per_second", "cell", Float32, "s-1", "training throughput of the cell's share",
     "end", kRecorder},
    {"cost_step_time_p50", "cell", Float32, "s", "median time of a step of the job over its cells",
     "end", kRecorder},
    {"cost_step_time_p95", "cell", Float32, "s", "95 % quantile", "end", kRecorder},
    {"cost_wall_time", "cell", Float64, "s",
     "the cell's share of the wall time of its jobs, all attempts", "end", kRecorder},
    {"cost_device_time", "cell", Float64, "s", "device time charged: ranks × share of the training",
     "end", kRecorder},
    {"cost_device_time_lost", "cell", Float64, "s", "device time redone after interruptions", "end",
     kRecorder},
    {"cost_eval_time", "cell", Float64, "s", "of it, share of the time in evaluation", "end",
     kRecorder},
    {"cost_checkpoint_time", "cell", Float64, "s",
     "of it, share of the time stalled by checkpoints", "end", kRecorder},
    {"cost_probe_time", "cell", Float64, "s", "of it, share of the time in probes, all together",
     "end", kRecorder},
    {"cost_probe_time_each", "cell, probe", Float64, "s",
     "of it, share of the time in each probe that has measured", "end", kRecorder},
    {"cost_memory_peak", "cell", Float64, "byte",
     "peak memory of the job over its cells: of tensors on a GPU, of the process on the CPU", "end",
     kMemoryUse},
    {"cost_memory_activations", "cell", Float64, "byte", "peak of activations of the cell", "end",
     kCostModel},
    {"cost_memory_host", "cell", Float64, "byte", "peak resident memory of the job's first rank",
     "end", kMemoryUse},
    {"predicted_wall_time", "cell", Float64, "s", "planner's prediction of cost_wall_time", "plan",
     "sweeps/plan/structure_cost.hpp"},
    {"predicted_bytes", "cell", Float64, "byte", "planner's prediction of stored bytes", "plan",
     "sweeps/plan/structure_cost.hpp"},
};

std::span<const Variable> cost_variables() {
  return kCostVariables;
}

}  // namespace depthgrid
