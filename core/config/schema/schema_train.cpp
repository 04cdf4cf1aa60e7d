#include <algorithm>
#include <array>

#include "core/config/axis_labels.hpp"
#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr std::string_view kDecaySchedule = "train.schedule.kind=cosine|linear|wsd";

constexpr Leaf kTrain[] = {
    word("train.task", "lm control steering", "lm", Structural,
         "lm: text, under no signal or a constant one; control: text under a signal made of labels "
         "of its sentences (model.control.names); steering: the word behind a prompt, which the "
         "signal chooses"),
    integer("train.steps", 0, 1e9, "steps", "1000", Structural, "optimiser steps"),
    integer("train.batch_size", 1, 65536, "sequences", "8", Structural,
            "B, global, per optimiser step"),
    integer("train.accumulation", 1, 1024, "micro-batches", "1", Structural,
            "micro-batches summed per step; divides batch_size"),
    word("train.optimizer", "adam adamw", "adam", Structural, "per-cell Adam or AdamW"),
    real("train.lr", 0, kUnlimited, "–", "3e-4", PerCell, "peak rate"),
    below(real("train.beta1", 0, 1, "–", "0.9", PerCell, "decay of the first moment")),
    below(real("train.beta2", 0, 1, "–", "0.999", PerCell, "decay of the second moment")),
    above(real("train.eps", 0, kUnlimited, "–", "1e-8", PerCell, "ε of the denominator")),
    real("train.weight_decay", 0, kUnlimited, "–", "0", PerCell,
         "decoupled with adamw, added to the gradient with adam"),
    word("train.no_decay",
         "trunk embedding head norm bias modulation hypernet ssm residual scalars alpha tpn router "
         "predictor field control gain",
         "[norm, bias, embedding, scalars, alpha, residual]", Structural,
         "groups without decay; [] decays everything but router and scalars of tdt, which never "
         "decay unless train.groups says so",
         ValueKind::WordList),
    word("train.schedule.kind", "constant cosine linear wsd", "constant", PerCell,
         "shape of the rate; wsd: warm-up, stable, decay"),
    integer("train.schedule.warmup_steps", 0, 1e9, "steps", "0", PerCell, "linear from 0"),
    read(or_null(integer("train.schedule.decay_steps", 0, 1e9, "steps", "null", PerCell,
                         "length of the decay"),
                 "what warm-up leaves; wsd: a fifth of train.steps"),
         kDecaySchedule),
    read(real("train.schedule.final_ratio", 0, 1, "–", "0.1", PerCell, "final over peak rate"),
         kDecaySchedule),
    above(or_words(real("train.clip", 0, kUnlimited, "–", "1.0", PerCell,
                        "largest norm of a cell's gradient; none: not clipped"),
                   "none")),
    read(or_null(word("train.clip_scope", "main global group", "null", Structural,
                      "main: one norm for the parameters that compute the logits, and one for each "
                      "group that only helps to choose tokens (tdt: tpn, scalars, router; mod: "
                      "predictor) or that, with train.task: control, read the signal, so that a "
                      "model is clipped as it is without them; global: one norm per cell; group: "
                      "one per parameter group"),
                 "main, which is global where no layer skips and no signal is trained; group where "
                 "train.control.trainable leaves groups out"),
         "train.clip!=none"),
    word("train.precision", "fp32 tf32 bf16", "fp32", Structural,
         "of matrix products; parameters are always fp32"),
    above(real("train.loss_scale", 0, kUnlimited, "–", "1", PerCell,
               "static; divided out before the clip")),
    null_means(integer("train.early_stop.patience", 1, kUnlimited, "evaluations", "null", PerCell,
                       "evaluations without a better dev loss before the cell stops"),
               "off"),
    read(real("train.early_stop.min_delta", 0, kUnlimited, "nat/token", "0", PerCell,
              "smallest improvement that counts"),
         "train.early_stop.patience!=null"),
    or_null(above(or_words(real("train.diverged_above", 0, kUnlimited, "nat/token", "null", PerCell,
                                "a loss of a step or of the final evaluation above it ends the "
                                "cell as diverged, as a non-finite one does; none: only a "
                                "non-finite one"),
                           "none")),
            "1000, far above the loss of any start"),
    flag("train.deterministic", "true", Execution,
         "same processor, ranks and threads: same bits; an operation that cannot repeat its bits "
         "fails"),
};

/// Paths of the leaves of a group.
template <ParameterGroup G>
constexpr std::array<FixedText, 3> kPaths = {
    FixedText{"train.groups.", name_of(G), ".lr"},
    FixedText{"train.groups.", name_of(G), ".weight_decay"},
    FixedText{"train.groups.", name_of(G), ".frozen"}};

template <ParameterGroup G>
constexpr std::array<Leaf, 3> group(
    std::string_view condition = "",
    std::string_view rate = "train.lr; task control: times train.control.lr_scale",
    std::string_view decay = "train.weight_decay; 0 if no_decay lists it") {
  const auto& [lr_path, decay_path, frozen_path] = kPaths<G>;
  const Leaf lr = real(lr_path, 0, kUnlimited, "–", "null", PerCell, "rate of the group");
  const Leaf weight_decay =
      real(decay_path, 0, kUnlimited, "–", "null", PerCell, "decay of the group");
  const Leaf frozen = flag(frozen_path, "false", Structural, "no gradient, no update");
  return {read(or_null(lr, rate), condition), read(or_null(weight_decay, decay), condition),
          read(frozen, condition)};
}

template <class... Rows>
constexpr auto joined(const Rows&... groups) {
  std::array<Leaf, 3 * sizeof...(Rows)> all{};
  auto* to = all.begin();
  ((to = std::ranges::copy(groups, to).out), ...);
  return all;
}

constexpr std::string_view kUntiedHead = "model.tie_embeddings=false";
constexpr std::string_view kNorm = "model.norm=pre or model.final_norm!=none";
// Everything but tables and norms is generated in tong, where generators are a group of their own.
constexpr std::string_view kTrunk = "model.family!=tong";
constexpr std::string_view kBias =
    "model.attention.bias=true & model.family!=tong or "
    "model.mixer=mlp & model.mlp.bias=true & model.family!=tong or "
    "model.attention.bias|model.mlp.bias=true & model.hypernet.generate_bias=false";
constexpr std::string_view kGates = "model.family=time_indexed & model.modulation.gate!=constant";
constexpr std::string_view kGenerators =
    "model.family=tong or model.mixer=ssm & model.ssm.parameters=generated";
constexpr std::string_view kSharedStateSpace = "model.mixer=ssm & model.ssm.parameters=shared";
constexpr std::string_view kRouter = "model.family=tdt|mod";
constexpr std::string_view kAlpha =
    "model.family=hybrid_ode & model.field.kind!=block & model.field.alpha_learned=true";
constexpr std::string_view kControl =
    "model.control.dim!=0 & model.control.sites!=flow or "
    "model.control.dim!=0 & model.control.injection!=concat or "
    "model.control.dim!=0 & model.field.kind=attention_mlp|time_indexed or "
    "model.control.dim!=0 & train.task=control";
constexpr std::string_view kGain = "model.init.gain=learned";
constexpr std::string_view kScale = "model.residual.scale=learned|learned_per_layer";

using enum ParameterGroup;
constexpr auto kGroups =
    joined(group<Trunk>(kTrunk), group<Embedding>(), group<Head>(kUntiedHead), group<Norm>(kNorm),
           group<Bias>(kBias), group<Modulation>(kGates), group<Hypernet>(kGenerators),
           group<Ssm>(kSharedStateSpace), group<Field>(kFlow), group<Alpha>(kAlpha),
           group<Gain>(kGain), group<Control>(kControl), group<Residual>(kScale), group<Tpn>(kTdt),
           group<Scalars>(kTdt, "1e-3", "0, whatever no_decay lists"),
           group<Router>(kRouter, "train.lr; tdt: 3e-3",
                         "train.weight_decay; 0 if no_decay lists it; tdt: 0, whatever it lists"),
           group<Predictor>(kMod));

constexpr SchemaSection kTrainSections[] = {{"Training", kTrain},
                                            {"Training: groups of parameters", kGroups}};

}  // namespace

std::span<const SchemaSection> train_sections() {
  return kTrainSections;
}

}  // namespace depthgrid
