#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kEvaluation = "core/train/evaluation.hpp";
constexpr std::string_view kKeptText = "core/data/kept_text.hpp";
constexpr std::string_view kModeEvaluation = "worker/eval/mode_evaluation.hpp";

constexpr Variable kEvalVariables[] = {
    {"eval_loss", "cell, eval_step, split", Float32, "nat", "mean loss per token", "eval",
     kEvaluation},
    {"eval_loss_error", "cell, eval_step, split", Float32, "nat", "standard error over windows",
     "eval", kEvaluation},
    {"eval_tokens", "cell, eval_step, split", Int64, "1", "tokens evaluated", "eval", kEvaluation},
    {"eval_perplexity", "cell, eval_step, split", Float32, "1", "exp of the loss", "eval",
     kEvaluation},
    {"eval_bits_per_byte", "cell, eval_step, split", Float32, "bit",
     "bits per UTF-8 byte; none where tokens lose bytes", "eval", kEvaluation},
    {"eval_accuracy", "cell, eval_step, split", Float32, "1", "next-token accuracy", "eval",
     kEvaluation},
    {"eval_loss_position", "cell, eval_step, split, token_position", Float32, "nat",
     "loss by position", "eval, by_position", kEvaluation, true},
    {"eval_loss_published", "cell, eval_step", Float32, "nat", "loss on 80 random windows",
     "eval, published_1", "docs/configuration.md, Evaluation", true},
    {"eval_loss_mode", "cell, eval_step, eval_mode", Float32, "nat",
     "loss by execution mode, split valid", "eval", kModeEvaluation, true},
    {"eval_mode_noncausal", "cell, eval_mode", Int8, "1",
     "flag: 0 causal, 1 sees the future and is no validation figure", "plan",
     "models/context/execution_mode.hpp"},
    {"eval_executed_share", "cell, eval_step, eval_mode", Float32, "1",
     "executed share of the tokens of layers that may skip", "eval", kModeEvaluation, true},
    {"eval_mismatch_gap", "cell, eval_step", Float32, "nat",
     "loss of the student less that of its teacher", "eval", kModeEvaluation, true},
    {"split_digest", "cell, split", Int64, "1",
     "first 48 bits of the SHA-256 of the split's tokens: equal = figures of the same text", "plan",
     kKeptText},
    {"split_bytes", "cell, split", Int64, "byte",
     "UTF-8 bytes of the split's text; absent where its tokens do not keep every byte", "plan",
     kKeptText},
    {"best_loss", "cell, split", Float32, "nat", "lowest evaluation loss", "eval",
     "worker/session/cell_recorder.hpp"},
    {"best_step", "cell, split", Int64, "1", "its step", "eval",
     "worker/session/cell_recorder.hpp"},
    {"final_loss", "cell, split", Float64, "nat", "mean loss, all windows, last weights", "end",
     kEvaluation},
    {"final_loss_error", "cell, split", Float64, "nat", "standard error over windows", "end",
     kEvaluation},
    {"final_tokens", "cell, split", Int64, "1", "tokens", "end", kEvaluation},
    {"final_bits_per_byte", "cell, split", Float64, "bit",
     "bits per UTF-8 byte; none where tokens lose bytes", "end", kEvaluation},
    {"final_perplexity", "cell, split", Float64, "1", "perplexity", "end", kEvaluation},
    {"flow_bypass_cost", "cell", Float64, "nat",
     "loss of the layers alone less that with the trained flow, split valid", "end, hybrid_ode",
     "worker/eval/loss_change.hpp", true},
    {"final_loss_mode", "cell, eval_mode", Float64, "nat",
     "mean loss by execution mode, split valid, last weights", "end", kModeEvaluation},
    {"final_executed_share", "cell, eval_mode", Float32, "1",
     "executed share of the tokens of layers that may skip", "end", kModeEvaluation},
};

std::span<const Variable> eval_variables() {
  return kEvalVariables;
}

}  // namespace depthgrid
