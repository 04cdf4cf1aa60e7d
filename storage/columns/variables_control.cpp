#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kLabelTable = "core/data/labels/label_table.hpp";
constexpr std::string_view kControlEvaluation = "worker/eval/control_evaluation.hpp";

constexpr std::string_view kSteeringEvaluation = "worker/eval/steering_evaluation.hpp";

constexpr Variable kControlVariables[] = {
    {"control_label_rate", "cell, control_axis", Float32, "1",
     "share of positive labels in the training text", "plan, labels", kLabelTable},
    {"control_label_threshold", "cell, control_axis", Float32, "1",
     "threshold on the raw score, above which a label is positive", "plan, labels", kLabelTable},
    {"control_label_phi", "cell, control_axis, control_axis_b", Float32, "1",
     "correlation of labels in the training text: the cross-talk of the text itself",
     "plan, labels", kLabelTable},
    {"control_label_entropy", "cell", Float32, "nat",
     "sum of the entropies of the labels, per sentence: what they carry at most as signs",
     "plan, labels", kLabelTable},
    {"control_label_sentences", "cell", Int64, "1", "labelled sentences of the training text",
     "plan, labels", kLabelTable},
    {"control_signal_entropy", "cell, control_axis", Float32, "nat",
     "entropy of u itself per sentence: of a rank, or of a sign", "plan, labels",
     "core/data/labels/corpus_labels.hpp"},
    {"control_axis_trained", "cell, control_axis", Int8, "1",
     "flag: 1 = axis received gradient; 0: one label for all sentences, no prompt, no step, or "
     "every "
     "window neutral",
     "plan, labels; end, prompts", "worker/session/control_facts.hpp"},
    {"control_neutral_cost", "cell", Float64, "nat",
     "loss at u = 0 less that without a signal, split valid: 0 unless a map has a bias",
     "end, labels or prompts", "worker/eval/loss_change.hpp"},
    {"control_nll_neutral", "cell, split", Float64, "nat",
     "loss per token at u = 0: of the four, the one that may be called perplexity", "end, labels",
     kControlEvaluation},
    {"control_nll_previous", "cell, split", Float64, "nat",
     "loss per token under the label of the last finished sentence", "end, labels",
     kControlEvaluation},
    {"control_nll_matched", "cell, split", Float64, "nat",
     "loss per token under the sentence's own label, which knows words to come", "end, labels",
     kControlEvaluation},
    {"control_nll_mismatched", "cell, split", Float64, "nat",
     "loss per token under the negative of that label", "end, labels", kControlEvaluation},
    {"control_gain_sentence", "cell, split", Float64, "nat",
     "neutral less matched loss of a labelled sentence that is evaluated whole", "end, labels",
     kControlEvaluation},
    {"control_gain_error", "cell, split", Float64, "nat", "its standard error over sentences",
     "end, labels", kControlEvaluation},
    {"control_leak", "cell, split", Int8, "1",
     "flag: 0 none, 1 the gain is above the entropy of the signal, 2 unknown", "end, labels",
     "worker/session/control_facts.hpp"},
    {"control_auc", "cell, control_axis, control_axis_b", Float32, "1",
     "likelihood AUC of an axis against the labels of another, own on the diagonal", "end, labels",
     kControlEvaluation},
    {"control_auc_low", "cell, control_axis, control_axis_b", Float32, "1",
     "lower end of its 95 % interval over blocks of sentences", "end, labels", kControlEvaluation},
    {"control_auc_high", "cell, control_axis, control_axis_b", Float32, "1",
     "upper end of that interval", "end, labels", kControlEvaluation},
    {"steering_positive_mass", "cell, control_axis, steering_part, steering_signal", Float64, "1",
     "mean probability of the positive words behind a prompt", "end, prompts", kSteeringEvaluation},
    {"steering_negative_mass", "cell, control_axis, steering_part, steering_signal", Float64, "1",
     "mean probability of the negative words behind a prompt", "end, prompts", kSteeringEvaluation},
    {"steering_accuracy", "cell, control_axis, steering_part", Float64, "1",
     "share of prompts and signs whose words are the more probable ones; chance is 0.5",
     "end, prompts", kSteeringEvaluation},
    {"steering_neutral_share", "cell, control_axis, steering_part", Float64, "1",
     "share of prompts at u = 0 behind which the positive words are the more probable ones",
     "end, prompts", kSteeringEvaluation},
    {"steering_prompts", "cell, control_axis, steering_part", Int64, "1",
     "prompts, of other text windows", "end, prompts", kSteeringEvaluation},
};

std::span<const Variable> control_variables() {
  return kControlVariables;
}

}  // namespace depthgrid
