#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr std::string_view kGatedPath =
    "model.family=tdt & model.tdt.train_path=gated_soft|gated_st";

// Cells whose layers gather the tokens that they execute.
constexpr std::string_view kTdtGathers = "model.family=tdt & model.tdt.execution=gathered";
constexpr std::string_view kModGathers = "model.family=mod & model.mod.execution=gathered";

constexpr Leaf layers(std::string_view path) {
  return word(path, "odd even all", "odd", Structural,
              "0-based layers that may skip tokens: a word, or a list such as [1, 3]",
              ValueKind::LayerList);
}

constexpr Leaf kTdtRows[] = {
    layers("model.tdt.layers"),
    fused(real("model.tdt.capacity", 0, 1, "–", "0.25", PerCell,
               "γ, share of tokens that a dynamic layer executes: k = ⌊γT + 1e-9⌋ per sequence"),
          FusionPart::TokenCount, kTdtGathers),
    fused(integer("model.tdt.min_k", 0, 1, "tokens", "0", PerCell, "smallest k"),
          FusionPart::InCount, kTdtGathers),
    word("model.tdt.train_path", "dense gated_soft gated_st", "gated_st", Structural,
         "dense: all tokens pass, as in the study's text; gated: only selected ones do, scaled by "
         "the gate, or unscaled with the gate's gradient (straight-through)"),
    // In the dense steps, every token of a sequence is executed.
    fused(read(real("model.tdt.dense_fraction", 0, 1, "–", "0", PerCell,
                    "share of the steps, counted from the first, that execute every token"),
               kGatedPath),
          FusionPart::Whole, kTdtGathers),
    word("model.tdt.execution", "masked gathered", "masked", Structural,
         "how the k selected tokens pass through a block: all tokens are computed and masked, or "
         "only those k are computed, which saves time; then only cells of equal k are fused"),
    integer("model.tdt.ma_window", 1, 131072, "tokens", "100", Structural,
            "W, moving average of the static surprise"),
    flag("model.tdt.ma_exclusive", "false", Structural, "the average leaves out the token itself"),
    above(real("model.tdt.o_ce_init", 0, kUnlimited, "–", "1.025", PerCell,
               "effective initial value of o_ce")),
    above(real("model.tdt.m_cu_init", 0, kUnlimited, "–", "1.1", PerCell,
               "effective initial value of m_cu")),
    real("model.tdt.beta_ce_init", -100, 100, "–", "-0.3", PerCell,
         "initial β_ce, before softplus"),
    real("model.tdt.beta_cu_init", -100, 100, "–", "-0.6", PerCell,
         "initial β_cu, before softplus"),
    word("model.tdt.scalars", "softplus raw", "softplus", Structural,
         "o_ce and m_cu are the softplus of a parameter, or the parameter itself, which nothing "
         "keeps positive"),
    word("model.tdt.surprise_norm", "none layer_rms", "none", Structural,
         "scale of D: as it is, or divided by the layer's moving average of D_st in training"),
    flag("model.tdt.gate_grad_to_trunk", "false", Structural,
         "the gate's gradient reaches the residual and its prediction"),
    real("model.tdt.tpn.ratio", 0, 4, "–", "0.0625", Structural,
         "hidden width of the transition network over d, rounded up to even"),
    integer("model.tdt.tpn.min_width", 2, 4096, "channels", "8", Structural,
            "smallest hidden width"),
    word("model.tdt.tpn.norm", "rms none", "rms", Structural,
         "norm of its input, without parameters"),
    word("model.tdt.tpn.output_init", "normal xavier zero", "normal", Structural,
         "initial values of its last matrix: N(0, 0.02²), Xavier-uniform like its first, or 0, so "
         "that it predicts no change at first"),
    flag("model.tdt.tpn.detach_input", "true", Structural, "its loss does not reach the trunk"),
    word("model.tdt.router.input_norm", "rms none", "rms", Structural,
         "norm of each half of the router's input, without parameters"),
    flag("model.tdt.router.bias", "true", Structural, "bias of the router"),
    read(word("model.tdt.router.bias_init", "zero logit_capacity", "zero", PerCell,
              "its initial value: 0, or log(γ / (1 − γ))"),
         "model.family=tdt & model.tdt.router.bias=true"),
    flag("model.tdt.router.detach_input", "true", Structural, "its loss does not reach the trunk"),
    real("model.tdt.lambda_tpn", 0, kUnlimited, "–", "0.05", PerCell,
         "weight of the transition network's loss"),
    real("model.tdt.lambda_causal", 0, kUnlimited, "–", "0.1", PerCell,
         "weight of the router's loss"),
    word("model.tdt.decider", "calibrated threshold running_topk", "calibrated", Structural,
         "how the student decides; `eval_loss` is measured with it"),
    real("model.tdt.threshold", 0, 1, "–", "0.5", PerCell,
         "τ of decider threshold: tokens strictly above it are executed"),
    integer("model.tdt.calibration_tokens", 1, kUnlimited, "tokens", "65536", Structural,
            "tokens of dev (of train where there is no dev) on which thresholds are calibrated; "
            "during training no more than `eval.mode_windows`"),
    flag("model.tdt.always_execute_first", "false", Structural,
         "a sequence's first token is never skipped"),
};

constexpr Leaf kModRows[] = {
    layers("model.mod.layers"),
    fused(real("model.mod.capacity", 0, 1, "–", "0.25", PerCell,
               "γ, share of tokens that a dynamic layer executes: k = ⌊γT + 1e-9⌋ per sequence"),
          FusionPart::TokenCount, kModGathers),
    word("model.mod.execution", "masked gathered", "masked", Structural,
         "as `model.tdt.execution`"),
    or_null(integer("model.mod.predictor_hidden", 1, 65536, "channels", "null", Structural,
                    "hidden width of the causal predictor d → · → 1"),
            "d_model / 2"),
    real("model.mod.lambda_predictor", 0, kUnlimited, "–", "0.1", PerCell,
         "weight of the predictor's loss, which does not reach the trunk"),
};

constexpr SchemaSection kRoutingSections[] = {
    {"Model: temporal dynamic transformer", kTdtRows, kTdt},
    {"Model: Mixture-of-Depths", kModRows, kMod},
};

}  // namespace

std::span<const SchemaSection> routing_sections() {
  return kRoutingSections;
}

}  // namespace depthgrid
