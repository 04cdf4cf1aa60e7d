#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr std::string_view kField = "model.family=hybrid_ode & model.field.kind!=block";
constexpr std::string_view kAttention =
    "model.family=hybrid_ode & model.field.kind=attention_mlp|time_indexed";
constexpr std::string_view kSolved =
    "model.family=hybrid_ode & model.field.kind!=block or model.family=time_indexed|tong";
constexpr std::string_view kMlp = "model.family=hybrid_ode & model.field.kind=mlp";

constexpr Leaf kRows[] = {
    read(or_null(word("model.replaced_layers", "", "null", Structural,
                      "layers a … b − 1, counted from 0, which the flow replaces",
                      ValueKind::LayerRange),
                 "[⌊L/3⌋, ⌊2L/3⌋], at least one layer"),
         kFlow),
    read(
        word("model.field.kind", "attention_mlp time_indexed mlp block", "attention_mlp",
             Structural,
             "vector field: attention and feed-forward, each with a norm; the same with weights "
             "gated by the flow's time (model.modulation); two affine maps without a norm; or, "
             "instead of a flow, an ordinary block applied m times with step length 1 (a control)"),
        kFlow),
    or_null(integer("model.field.hidden", 1, 65536, "channels", "null", Structural,
                    "hidden width of the field's feed-forward maps"),
            "4 · d_model; field mlp: 2 · d_model"),
    or_null(word("model.field.activation", "gelu gelu_tanh softplus silu tanh relu", "null",
                 Structural, "between these maps"),
            "gelu; field mlp: softplus"),
    read(word("model.field.sublayers", "parallel sequential", "parallel", Structural,
              "attention and feed-forward read the same input, or feed-forward reads the sum after "
              "attention; neither depends on the step length"),
         kAttention),
    or_null(word("model.field.time_embedding", "mlp none", "null", Structural,
                 "a network 1 → d → d of the flow's time, added to the input"),
            "mlp; fields mlp and time_indexed: none"),
    real("model.field.alpha_init", -100, 100, "–", "0.1", PerCell,
         "α, factor of the field, or its initial value"),
    flag("model.field.alpha_learned", "true", Structural, "α is a parameter"),
    read(real("model.field.output_std", 0, 1, "–", "0.01", PerCell,
              "initial standard deviation of the last matrix"),
         kMlp),
    read(word("model.field.dropout_mask", "per_evaluation per_solve", "per_evaluation", Structural,
              "dropout is drawn for each evaluation of the field, or once per solve"),
         kAttention),
};

constexpr Leaf kSolverRows[] = {
    read(
        word("model.solver.method", "euler midpoint heun rk4 rk4_38 dopri5 ab2 reversible_heun",
             "euler", Structural,
             "method of the flow, or of the whole depth of time_indexed and tong, on a fixed grid; "
             "rk4_38 is what torchdiffeq calls rk4; ab2 begins with a step of rk4"),
        kSolved),
    or_null(
        read(integer("model.solver.steps", 1, 1024, "steps", "null", Structural,
                     "m, steps of the flow of length 1/m, or of the whole depth of length L Δt/m; "
                     "with field block, how often it is applied"),
             "model.family=hybrid_ode|time_indexed|tong"),
        "4; time_indexed, tong: n_layers"),
};

constexpr Leaf kGradientRows[] = {
    word(
        "model.gradient.mode", "plain checkpoint reversible adjoint", "plain", Structural,
        "what the backward pass through the depth keeps: all it reads; some states, the steps "
        "between them taken again (the same bits); of a flow the last state only, each step undone "
        "(reversible_heun), or its equation solved backwards (approximate, the error is recorded)"),
    read(integer("model.gradient.slots", 1, 1024, "states", "8", Structural,
                 "states kept of each run of steps; a shorter run keeps one for each step"),
         "model.gradient.mode=checkpoint"),
};

constexpr SchemaSection kFlowSections[] = {
    {"Model: flow (hybrid_ode)", kRows, kField},
    {"Model: solver", kSolverRows},
    {"Model: gradient through depth", kGradientRows},
};

}  // namespace

std::span<const SchemaSection> flow_sections() {
  return kFlowSections;
}

}  // namespace depthgrid
