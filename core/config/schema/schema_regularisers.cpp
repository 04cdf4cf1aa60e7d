#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr std::string_view kRegularised =
    "model.family=hybrid_ode & model.field.kind!=block & train.task=lm|control or "
    "model.family=time_indexed|tong & train.task=lm|control";
constexpr std::string_view kSteered =
    "model.family=hybrid_ode & model.control.dim!=0 & train.task=lm|control";

/// A weight; only cells of which it is zero, or of which it is not, are trained together.
constexpr Leaf weight(std::string_view path, std::string_view doc) {
  return fused(real(path, 0, 1e6, "–", "0", PerCellUnion, doc), FusionPart::Alternative);
}

constexpr Leaf kRows[] = {
    weight("regularisers.energy",
           "weight of Σ mean ‖F‖² over the evaluations of the field, F without its factor α"),
    weight("regularisers.kinetic",
           "weight of ½ Σ mean ‖ΔH‖²/h over the steps, ½ ∫ mean ‖dH/dτ‖² dτ along their polygon"),
    weight("regularisers.acceleration",
           "weight of ½ Σ h mean ‖a‖² over the steps, a the difference of the field along a step, "
           "by its length: a costs one more evaluation"),
    weight("regularisers.jacobian_frobenius",
           "weight of Σ h mean ‖Jᵀε‖² over the steps, J the Jacobian of the field in the state, ε "
           "one draw per pass: on average ‖J‖²_F by the size of the state"),
    read(word("regularisers.jacobian_noise", "rademacher gaussian", "rademacher", Structural, "ε"),
         "regularisers.jacobian_frobenius!=0"),
    weight("regularisers.spectral_norm", "weight of Σ h ‖J‖₂ over the steps, mean over sequences"),
    weight("regularisers.log_norm",
           "weight of Σ h relu(μ₂(J) − margin)² over the steps, mean over sequences: μ₂, the "
           "largest eigenvalue of (J + Jᵀ)/2, bounds growth and leaves rotation free"),
    read(real("regularisers.log_norm_margin", -1e6, 1e6, "1/depth-time", "0", PerCell,
              "rate of growth that is allowed"),
         "regularisers.log_norm!=0"),
    read(integer("regularisers.iterations", 1, 16, "–", "1", Structural,
                 "steps of Lanczos in each step of the depth, from the vector of the step before; "
                 "`regulariser_spectral_norm` and `regulariser_log_norm` hold the estimate beside "
                 "the converged value"),
         "regularisers.spectral_norm!=0 or regularisers.log_norm!=0"),
    read(weight("regularisers.control_smoothness",
                "weight of ‖H(u + δe) − H(u)‖²/δ² by the size of H, the last state, e one normal "
                "draw per sequence: one more pass"),
         kSteered),
    read(above(real("regularisers.control_delta", 0, 1e3, "–", "0.1", PerCell, "δ")),
         "regularisers.control_smoothness!=0"),
    read(or_null(ranged_list("regularisers.control_band", 0, 1e6, "–", "null", PerCell,
                             "[low, high]: the square of how far ‖H(u + δe) − H(u)‖/δ, by the "
                             "root of the size of H, is outside of this band is the penalty"),
                 "no band: its square is"),
         "regularisers.control_smoothness!=0"),
};

constexpr SchemaSection kSections[] = {{"Regularisers", kRows, kRegularised}};

}  // namespace

std::span<const SchemaSection> regulariser_sections() {
  return kSections;
}

}  // namespace depthgrid
