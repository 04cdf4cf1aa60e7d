#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kStatistics = "models/routing/routing_statistics.hpp";

/// A statistic of each layer that skips tokens.
constexpr Variable per_layer(std::string_view name, std::string_view long_name,
                             std::string_view units = "1") {
  return {name, "cell, probe_step, layer", Float32, units, long_name, "eval", kStatistics};
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
    per_layer("tdt_ce_share", "share of CE in the score of selected tokens"),
    per_layer("tdt_ce_dominant", "share of selected tokens with S_CE > S_CU"),
    per_layer("tdt_overlap_s_ce", "overlap of TopK(g) with TopK(S_CE)"),
    per_layer("tdt_overlap_s_cu", "overlap of TopK(g) with TopK(S_CU)"),
    per_layer("tdt_overlap_d_st", "overlap of TopK(g) with TopK(D_st)"),
    per_layer("tdt_score_gap", "score of rank k less rank k + 1"),
    per_layer("tdt_o_ce", "effective o_ce"),
    per_layer("tdt_m_cu", "effective m_cu"),
    per_layer("tdt_beta_ce", "softplus(β_ce)"),
    per_layer("tdt_beta_cu", "softplus(β_cu)"),
    per_layer("tpn_mse", "prediction error of the transition network"),
    per_layer("tpn_mse_constant", "error of the constant-mean predictor on the same batch"),
    per_layer("tpn_mse_previous", "error of the previous-residual predictor on the same batch"),
    per_layer("tpn_skill", "1 - D_ch/D_st"),
    per_layer("tpn_cosine", "cosine of residual and prediction"),
    per_layer("router_bce", "cross-entropy, states of training", "nat"),
    per_layer("router_bce_relative", "cross-entropy over the entropy of the selected rate"),
    per_layer("router_accuracy", "accuracy, states of training"),
    per_layer("router_accuracy_student", "accuracy, student states"),
    per_layer("router_precision", "precision"),
    per_layer("router_recall", "recall"),
    per_layer("router_f1", "F1"),
    per_layer("router_auc", "area under ROC, states of training"),
    per_layer("router_auc_student", "area under ROC, student states"),
    per_layer("router_ece", "calibration error, 10 bins"),
    per_layer("router_probability_mean", "mean predicted probability"),
    per_layer("router_topk_recall", "overlap of TopK by the router with the teacher's mask"),
    {"router_threshold", "cell, probe_step, layer", Float32, "1",
     "calibrated threshold, as a probability", "eval", "models/routing/calibration.hpp"},
    per_layer("routing_capacity", "share that the teacher selects"),
    {"routing_rate", "cell, probe_step, layer, eval_mode", Float32, "1",
     "realised execution rate by mode", "eval", "worker/eval/mode_evaluation.hpp"},
    per_layer("mod_router_weight_mean", "gate of selected tokens, mean"),
    per_layer("mod_predictor_accuracy", "accuracy of the predictor"),
    per_layer("mod_predictor_auc", "area under ROC of the predictor"),
};

std::span<const Variable> routing_variables() {
  return kRoutingVariables;
}

}  // namespace depthgrid
