#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kGates = "core/probe/gates/gate_measures.hpp";
constexpr std::string_view kLens = "core/probe/lens/logit_lens_probe.hpp";

constexpr Variable gate(std::string_view name, std::string_view dims, std::string_view long_name) {
  return {name, dims, Float32, "1", long_name, "gates", kGates, true};
}

constexpr const char* kTrainingGradients = "core/probe/gradients/training_gradients.hpp";

constexpr Variable of_layers(std::string_view name, DataType type, std::string_view long_name) {
  return {name,        "cell, probe_step, layer", type, "1", long_name,
          "gradients", kTrainingGradients,        true};
}

constexpr Variable of_heads(std::string_view name, std::string_view long_name) {
  return {name,
          "cell, probe_step, depth, head",
          Float32,
          "1",
          long_name,
          "attention",
          "core/probe/attention/attention_probe.hpp",
          true};
}

constexpr Variable of_products(std::string_view name, std::string_view long_name) {
  return {name,      "cell, probe_step, depth, head, singular_index", Float32, "1", long_name,
          "weights", "core/probe/weights/weights_probe.hpp",          true};
}

constexpr Variable kProbeVariables[] = {
    gate("gate_mean", "cell, probe_step, depth, weight_type", "modulation gate, mean"),
    gate("gate_std", "cell, probe_step, depth, weight_type", "spread over the gate's entries"),
    gate("gate_min", "cell, probe_step, depth, weight_type", "minimum"),
    gate("gate_max", "cell, probe_step, depth, weight_type", "maximum"),
    gate("gate_saturation", "cell, probe_step, depth, weight_type",
         "share within a twentieth of the range of either end"),
    gate("gate_histogram", "cell, probe_step, depth, weight_type, histogram_bin",
         "share of gate values by bin"),
    gate("gate_depth_variance", "cell, probe_step, weight_type",
         "share of the gates' variance that is over depth"),
    gate("gate_total_variation", "cell, probe_step, weight_type",
         "total variation over depth-time on the fine grid"),
    gate("factor_mean", "cell, probe_step, depth, depth_factor",
         "scales and shifts of temporal norms, gates of state-space layers, learned gains: mean"),
    gate("factor_std", "cell, probe_step, depth, depth_factor", "spread over the entries"),
    gate("factor_min", "cell, probe_step, depth, depth_factor", "minimum"),
    gate("factor_max", "cell, probe_step, depth, depth_factor", "maximum"),
    gate("gate_fine", "cell, probe_step, weight_type, fine_depth", "mean gate on the fine grid"),
    gate("gate_power", "cell, probe_step, weight_type, frequency_bin",
         "power of the mean gate over frequency in depth-time"),
    {"gradient_norm_depth", "cell, probe_step, depth", Float32, "1",
     "norm of the loss gradient by the state after the step", "gradients",
     "core/probe/gradients/gradients_probe.hpp", true},
    {"gradient_adjoint_error", "cell, probe_step", Float32, "1",
     "relative error of the flow's gradient by its adjoint", "gradients",
     "models/gradient_check.hpp", true},
    {"reversible_defect", "cell, probe_step", Float32, "1",
     "distance of the two states of reversible Heun at the end of the flow, relative", "gradients",
     "models/gradient_check.hpp", true},
    {"reversible_error", "cell, probe_step", Float32, "1",
     "error of the first state of a flow after its steps are undone, relative", "gradients",
     "models/gradient_check.hpp", true},
    {"regulariser_spectral_norm", "cell, probe_step", Float32, "1",
     "∫ ‖J‖₂ dτ as the regulariser estimates it, on the probe set", "gradients, regularisers",
     "models/gradient_check.hpp", true},
    {"regulariser_spectral_norm_converged", "cell, probe_step", Float32, "1",
     "the same after 30 steps of Lanczos", "gradients, regularisers", "models/depth_norms.hpp",
     true},
    {"regulariser_log_norm", "cell, probe_step", Float32, "1",
     "∫ μ₂(J) dτ as the regulariser estimates it, on the probe set", "gradients, regularisers",
     "models/gradient_check.hpp", true},
    {"regulariser_log_norm_converged", "cell, probe_step", Float32, "1",
     "the same after 30 steps of Lanczos", "gradients, regularisers", "models/depth_norms.hpp",
     true},
    {"regulariser_jacobian_frobenius", "cell, probe_step", Float32, "1",
     "∫ ‖J‖²_F dτ by the size of the state, on the probe set", "gradients, norms",
     "models/depth_norms.hpp", true},
    {"regulariser_control_slope", "cell, probe_step", Float32, "1",
     "‖∂H/∂u‖_F by the root of the size of H, on the probe set", "gradients, norms",
     "models/depth_norms.hpp", true},
    {"logit_lens_loss", "cell, probe_step, depth_edge", Float32, "nat",
     "loss when the readout reads this state", "logit_lens", kLens, true},
    {"logit_lens_agreement", "cell, probe_step, depth_edge", Float32, "1",
     "share of tokens with the most probable token of the last depth", "logit_lens", kLens, true},
    of_layers("gradient_norm_layer", Float32,
              "gradient norm of a block's parameters in the step, before clip"),
    of_layers("gradient_norm_layer_clipped", Float32, "gradient norm of a block, after clip"),
    of_layers("gradient_vanish_count", Int64, "steps so far with a norm below vanish_below"),
    of_layers("gradient_explode_count", Int64, "steps so far with a norm above explode_above"),
    {"gradient_clip_count", "cell, probe_step", Int64, "1", "steps so far with the clip active",
     "gradients", kTrainingGradients, true},
    of_heads("attention_entropy", "entropy over ln(i + 1), mean over queries i >= 1"),
    of_heads("attention_distance", "mean distance to the attended token, in tokens"),
    of_heads("attention_first_share", "weight on the first token"),
    of_heads("attention_self_share", "weight on the token itself"),
    of_products("weight_qk_singular", "singular values of W_Q W_K^T"),
    of_products("weight_qk_eigen_real", "eigenvalues of W_Q W_K^T, real part"),
    of_products("weight_qk_eigen_imag", "eigenvalues of W_Q W_K^T, imaginary part"),
    of_products("weight_ov_singular", "singular values of W_V W_O"),
    of_products("weight_ov_eigen_real", "eigenvalues of W_V W_O, real part"),
    of_products("weight_ov_eigen_imag", "eigenvalues of W_V W_O, imaginary part"),
    {"weight_norm", "cell, probe_step, depth, weight_type", Float32, "1",
     "spectral norm of the weight with its gate", "weights", "core/probe/weights/weights_probe.hpp",
     true},
};

std::span<const Variable> probe_variables() {
  return kProbeVariables;
}

}  // namespace depthgrid
