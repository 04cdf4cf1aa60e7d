#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kProbe = "models/routing_probe.hpp";
constexpr std::string_view kMasks = "models/routing/execution_masks.hpp";
constexpr std::string_view kChurn = "storage/cells/mask_churn.hpp";
constexpr std::string_view kMaskDims = "cell, probe_step, layer, sequence_sample, mask_byte";
constexpr std::string_view kStatistics = "models/routing/routing_statistics.hpp";

/// A statistic of each layer that skips tokens.
constexpr Variable per_layer(std::string_view name, std::string_view long_name,
                             std::string_view units = "1") {
  return {name, "cell, probe_step, layer", Float32, units, long_name, "routing", kStatistics, true};
}

/// Several numbers of each such layer.
constexpr Variable along(std::string_view name, std::string_view dims, std::string_view long_name,
                         std::string_view source = kStatistics) {
  return {name, dims, Float32, "1", long_name, "routing", source, true};
}

/// A number of the whole cell under its student.
constexpr Variable of_student(std::string_view name, std::string_view long_name,
                              DataType type = Float32, std::string_view units = "1") {
  return {name, "cell, probe_step", type, units, long_name, "routing", kProbe, true};
}

constexpr Variable kRoutingVariables[] = {
    per_layer("tdt_d_st_mean", "static surprise D_st, mean"),
    per_layer("tdt_d_st_std", "D_st, spread"),
    per_layer("tdt_d_st_p50", "D_st, median"),
    per_layer("tdt_d_st_p99", "D_st, 99 % quantile"),
    per_layer("tdt_d_st_max", "D_st, maximum"),
    per_layer("tdt_d_ch_mean", "change surprise D_ch, mean"),
    per_layer("tdt_d_ch_std", "D_ch, spread"),
    per_layer("tdt_ma_mean", "moving average of D_st"),
    per_layer("tdt_predicted_share", "share with D_ch < D_st"),
    per_layer("tdt_ce_mean", "criterion CE, mean"),
    per_layer("tdt_cu_mean", "criterion CU, mean"),
    per_layer("tdt_ce_positive", "share with CE > 0"),
    per_layer("tdt_cu_positive", "share with CU > 0"),
    per_layer("tdt_s_ce_mean", "S_CE, mean"),
    per_layer("tdt_s_ce_std", "S_CE, spread"),
    per_layer("tdt_s_ce_min", "S_CE, minimum"),
    per_layer("tdt_s_ce_max", "S_CE, maximum"),
    per_layer("tdt_s_cu_mean", "S_CU, mean"),
    per_layer("tdt_s_cu_std", "S_CU, spread"),
    per_layer("tdt_s_cu_min", "S_CU, minimum"),
    per_layer("tdt_s_cu_max", "S_CU, maximum"),
    per_layer("tdt_g_mean", "gate g, mean"),
    per_layer("tdt_g_std", "gate g, spread"),
    per_layer("tdt_g_min", "gate g, minimum"),
    per_layer("tdt_g_max", "gate g, maximum"),
    along("tdt_g_histogram", "cell, probe_step, layer, histogram_bin", "share of g by bin"),
    per_layer("tdt_ce_share", "share of CE in the score of selected tokens"),
    per_layer("tdt_ce_dominant", "share of selected tokens with S_CE > S_CU"),
    per_layer("tdt_overlap_s_ce", "overlap of TopK(g) with TopK(S_CE)"),
    per_layer("tdt_overlap_s_cu", "overlap of TopK(g) with TopK(S_CU)"),
    per_layer("tdt_overlap_d_st", "overlap of TopK(g) with TopK(D_st)"),
    per_layer("tdt_ties", "tokens not selected whose score is that of rank k"),
    per_layer("tdt_score_gap", "score of rank k less rank k + 1"),
    per_layer("tdt_o_ce", "effective o_ce"),
    per_layer("tdt_m_cu", "effective m_cu"),
    per_layer("tdt_beta_ce", "softplus(β_ce)"),
    per_layer("tdt_beta_cu", "softplus(β_cu)"),
    {"tdt_scalar_grad_norm", "cell, probe_step, layer", Float32, "1",
     "gradient norm of the four scalars, of the loss under the mode of training", "routing", kProbe,
     true},
    per_layer("tpn_mse", "prediction error of the transition network"),
    per_layer("tpn_mse_constant", "error of the constant-mean predictor on the same batch"),
    per_layer("tpn_mse_previous", "error of the previous-residual predictor on the same batch"),
    per_layer("tpn_skill", "1 - D_ch/D_st"),
    per_layer("tpn_cosine", "cosine of residual and prediction"),
    per_layer("router_bce", "cross-entropy, states of training", "nat"),
    per_layer("router_bce_student", "cross-entropy, student states", "nat"),
    per_layer("router_bce_relative",
              "cross-entropy over the entropy of the selected rate, states of training"),
    per_layer("router_bce_relative_student",
              "cross-entropy over the entropy of the selected rate, student states"),
    per_layer("router_accuracy", "accuracy, states of training"),
    per_layer("router_accuracy_student", "accuracy, student states"),
    per_layer("router_precision", "precision, states of training"),
    per_layer("router_precision_student", "precision, student states"),
    per_layer("router_recall", "recall, states of training"),
    per_layer("router_recall_student", "recall, student states"),
    per_layer("router_f1", "F1, states of training"),
    per_layer("router_f1_student", "F1, student states"),
    per_layer("router_auc", "area under ROC, states of training"),
    per_layer("router_auc_student", "area under ROC, student states"),
    per_layer("router_ece", "calibration error, 10 bins, states of training"),
    per_layer("router_ece_student", "calibration error, 10 bins, student states"),
    along("router_reliability", "cell, probe_step, layer, reliability_bin",
          "observed rate by predicted probability, states of training"),
    along("router_reliability_student", "cell, probe_step, layer, reliability_bin",
          "observed rate by predicted probability, student states"),
    per_layer("router_probability_mean", "mean predicted probability, states of training"),
    per_layer("router_probability_mean_student", "mean predicted probability, student states"),
    per_layer("router_topk_recall",
              "overlap of TopK by the router with the teacher's mask, states of training"),
    per_layer("router_topk_recall_student",
              "overlap of TopK by the router with the teacher's mask, student states"),
    {"router_threshold", "cell, probe_step, layer", Float32, "1",
     "threshold calibrated on the probe set, as a probability", "routing", "models/calibration.hpp",
     true},
    per_layer("routing_capacity", "share that the teacher selects"),
    along("routing_capacity_position", "cell, probe_step, layer, position_decile",
          "share that the teacher selects, by position"),
    along("routing_rate_position", "cell, probe_step, layer, position_decile",
          "share that the student executes, by position"),
    of_student("routing_blocks_per_token", "blocks that a token passes through, student"),
    of_student("routing_unexecuted_share", "tokens that no layer that may skip executes, student"),
    of_student("routing_longest_skip", "longest run of skipped tokens in a layer, student", Int32),
    along("routing_kv_fill", "cell, probe_step, layer", "filled share of the cache, student",
          kProbe),
    of_student("routing_kv_bytes", "keys and values of a sequence of T tokens, student", Float32,
               "byte"),
    along("routing_capacity_mask", kMaskDims, "tokens that the teacher selects, eight per byte",
          kMasks),
    along("routing_mask", kMaskDims, "tokens that the student executes, eight per byte", kMasks),
    along("routing_capacity_churn", "cell, probe_step, layer",
          "1 - Jaccard of the teacher's masks of this measurement and the one before", kChurn),
    along("routing_churn", "cell, probe_step, layer",
          "1 - Jaccard of the student's masks of this measurement and the one before", kChurn),
    {"routing_rate", "cell, probe_step, layer, eval_mode", Float32, "1",
     "realised execution rate by mode", "eval", "worker/eval/mode_evaluation.hpp"},
    per_layer("mod_router_weight_mean", "gate of selected tokens, mean"),
    per_layer("mod_predictor_accuracy", "accuracy of the predictor, states of training"),
    per_layer("mod_predictor_accuracy_student", "accuracy of the predictor, student states"),
    per_layer("mod_predictor_auc", "area under ROC of the predictor, states of training"),
    per_layer("mod_predictor_auc_student", "area under ROC of the predictor, student states"),
};

std::span<const Variable> routing_variables() {
  return kRoutingVariables;
}

}  // namespace depthgrid
