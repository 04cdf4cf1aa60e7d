#include "storage/columns/variables.hpp"

namespace depthgrid {

using enum DataType;

constexpr std::string_view kGates = "core/probe/gates/gate_measures.hpp";
constexpr std::string_view kLens = "core/probe/lens/logit_lens_probe.hpp";

constexpr Variable gate(std::string_view name, std::string_view dims, std::string_view long_name) {
  return {name, dims, Float32, "1", long_name, "gates", kGates, true};
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
    gate("gate_fine", "cell, probe_step, weight_type, fine_depth", "mean gate on the fine grid"),
    gate("gate_power", "cell, probe_step, weight_type, frequency_bin",
         "power of the mean gate over frequency in depth-time"),
    {"gradient_norm_depth", "cell, probe_step, depth", Float32, "1",
     "norm of the loss gradient by the state after the step", "gradients",
     "core/probe/gradients/gradients_probe.hpp", true},
    {"logit_lens_loss", "cell, probe_step, depth_edge", Float32, "nat",
     "loss when the readout reads this state", "logit_lens", kLens, true},
    {"logit_lens_agreement", "cell, probe_step, depth_edge", Float32, "1",
     "share of tokens with the most probable token of the last depth", "logit_lens", kLens, true},
};

std::span<const Variable> probe_variables() {
  return kProbeVariables;
}

}  // namespace depthgrid
