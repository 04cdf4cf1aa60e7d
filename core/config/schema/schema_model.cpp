#include "core/config/family_facts.hpp"
#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

// Conditions that several rows share. What reads depth-time: gates, temporal norms, generators, and
// the step of a state-space layer; norm_kind is unread, hence at its default, where there is no
// norm.
constexpr std::string_view kTimed = "model.family=time_indexed";
constexpr std::string_view kMayGate = "model.family|model.field.kind=time_indexed";
constexpr std::string_view kGated =
    "model.family|model.field.kind=time_indexed & model.modulation.gate!=constant";
constexpr std::string_view kFeatures =
    "model.family|model.field.kind=time_indexed & model.modulation.gate!=constant or "
    "model.family=time_indexed & model.norm_kind|model.final_norm=temporal_layer_norm or "
    "model.mixer=ssm & "
    "model.ssm.discretisation|model.ssm.parameters=zoh|euler|generated or model.family=tong";
constexpr std::string_view kLayerTimes =  // the same but for a flow, whose times its method chooses
    "model.family=time_indexed & model.modulation.gate!=constant or model.family=time_indexed & "
    "model.norm_kind|model.final_norm=temporal_layer_norm or model.mixer=ssm & "
    "model.ssm.discretisation|model.ssm.parameters=zoh|euler|generated or model.family=tong";
constexpr FixedText kPerLayerTime = with_each(kLayerTimes, "model.time.dependence=layer");
constexpr FixedText kConstantTime = with_each(kLayerTimes, "model.time.dependence=constant");
constexpr FixedText kGeometric = with_each(kFeatures, "model.time_features.kind=geometric");
constexpr std::string_view kNetwork =
    "model.family|model.field.kind=time_indexed & model.modulation.gate!=constant or "
    "model.mixer=ssm & "
    "model.ssm.parameters=shared & model.ssm.discretisation!=none";
constexpr FixedText kHiddenNetwork = with_each(kNetwork, "model.modulation.hidden!=0");
constexpr std::string_view kFeedForward = "model.mixer=mlp";
constexpr std::string_view kTong = "model.family=tong";
constexpr std::string_view kSharing = "model.family=standard|tong";
constexpr std::string_view kTemporal = "model.norm_kind|model.final_norm=temporal_layer_norm";

/// A text whose identity is the content of its file.
constexpr Leaf start_from(std::string_view path, std::string_view doc) {
  Leaf leaf = text(path, "null", doc);
  leaf.leaf_class = PerCellUnion;
  return fused(leaf, FusionPart::ChainLength);
}

constexpr double kLargestSeed = 9223372036854775807.0;

constexpr Leaf kSeeds[] = {
    integer("seed", 0, kLargestSeed, "–", "0", PerCell,
            "sets model.seed and data.seed unless they are given; filled by the sweep's `seeds`"),
    or_null(integer("model.seed", 0, kLargestSeed, "–", "null", PerCell,
                    "initialisation and dropout streams"),
            "seed"),
    or_null(integer("data.seed", 0, kLargestSeed, "–", "null", PerCell,
                    "order of windows; equal for all arms of a replicate"),
            "seed"),
};

constexpr Leaf kBlock[] = {
    or_null(
        word("model.preset",
             "gpt gpt2 hybrid/baseline hybrid/ode published/standard published/time_indexed_mlp "
             "published/time_indexed_ssm published/tong tdt/default tdt/literal",
             "null", Execution,
             "fills leaves of the model; leaves that the file names win (over that of an include "
             "row only those of the row, and --set); identity is the resolved leaves, not the "
             "name"),
        "no preset"),
    word("model.family", kFamilyWords, "standard", Structural,
         "separate blocks; one block whose weights depth-time modulates; one whose weights "
         "networks of depth-time generate; separate blocks with a flow in place of some; separate "
         "blocks of which some skip tokens: temporal dynamic transformer, or Mixture-of-Depths"),
    integer("model.d_model", 8, 8192, "channels", "256", Structural,
            "d, width of the residual stream; a multiple of n_heads"),
    integer("model.n_layers", 1, 1024, "layers", "6", Structural, "L, depth steps"),
    integer("model.n_heads", 1, 256, "heads", "4", Structural, "H, attention heads"),
    read(or_null(integer("model.d_ff", 1, 65536, "channels", "null", Structural,
                         "hidden width of the feed-forward sublayer"),
                 "4 · d_model"),
         kFeedForward),
    or_null(integer("model.vocab_size", 2, 262144, "tokens", "null", Structural,
                    "V, rows of the embedding; more than the tokeniser has pads, fewer is an "
                    "error; tokeniser `char` needs it"),
            "the tokeniser's V"),
    read(or_null(integer("model.max_seq_len", 1, 131072, "tokens", "null", Structural,
                         "rows of the learned position table"),
                 "data.seq_len"),
         "model.positions=learned"),
    or_null(word("model.sublayers", "sequential parallel", "null", Structural,
                 "attention, then the second sublayer; or both from one input"),
            "standard, hybrid_ode, tdt, mod: sequential; time_indexed, tong: parallel"),
    read(word("model.mixer", "mlp ssm", "mlp", Structural,
              "the second sublayer: feed-forward, or a state-space layer along the sequence"),
         kTimed),
    read(or_null(word("model.share", "none all attention ffn", "null", Structural,
                      "layers that have the same weights: whole blocks, or each sublayer with the "
                      "norm in front of it; tong: one set of generators (all), or one a layer"),
                 "standard: none; tong: all"),
         kSharing),
    word("model.norm", "pre none", "pre", Structural, "norm in front of each sublayer"),
    read(word("model.norm_kind", "layer_norm rms_norm temporal_layer_norm", "layer_norm",
              Structural, "norm of the blocks; temporal norms belong to time_indexed and tong"),
         "model.norm=pre"),
    or_null(word("model.final_norm", "layer_norm rms_norm temporal_layer_norm none", "null",
                 Structural, "norm in front of the head"),
            "layer_norm; `norm: none`: none"),
    read(real("model.norm_eps", 1e-12, 1e-2, "–", "1e-5", PerCell, "ε of the norms"),
         "model.norm=pre or model.final_norm!=none"),
    read(integer("model.temporal_norm.hidden", 1, 4096, "channels", "64", Structural,
                 "width of a temporal norm's time network"),
         kTemporal),
    or_null(
        word("model.positions", "learned rope none", "null", Structural, "position information"),
        "learned; tdt, mod: rope"),
    read(above(real("model.rope_base", 1, kUnlimited, "–", "10000", PerCell,
                    "base of the rotary frequencies")),
         "model.positions=rope"),
    read(word("model.activation", "gelu gelu_tanh relu silu swiglu", "gelu", Structural,
              "feed-forward activation; gelu is the erf form"),
         kFeedForward),
    word("model.attention.implementation", "auto sdpa explicit", "auto", Structural,
         "auto: explicit where attention dropout > 0, else sdpa"),
    flag("model.attention.bias", "true", Structural, "biases of q, k, v and out"),
    read(flag("model.mlp.bias", "true", Structural, "biases of up and down"), kFeedForward),
    flag("model.tie_embeddings", "false", Structural,
         "the head is the embedding transposed; the head has no bias"),
    real("model.dropout.attention", 0, 0.9, "–", "0", PerCellUnion, "on attention probabilities"),
    real("model.dropout.mlp", 0, 0.9, "–", "0", PerCellUnion, "after the second sublayer"),
};

constexpr Leaf kResidual[] = {
    or_null(or_words(real("model.residual.scale", 0, 10, "depth-time", "null", PerCellUnion,
                          "Δt, factor of each increment; 1/L is its number; a learned scale is one "
                          "parameter, or one a layer"),
                     "1/L learned learned_per_layer"),
            "1; tong: 1/L"),
    read(or_words(real("model.residual.init", 0, 10, "depth-time", "1", PerCell,
                       "start of a learned scale"),
                  "1/L"),
         "model.residual.scale=learned|learned_per_layer"),
};

constexpr Leaf kTime[] = {
    read(word("model.time.nodes", "right left", "right", PerCell, "t_i = i/L or (i−1)/L"),
         kPerLayerTime),
    read(word("model.time.dependence", "layer constant", "layer", PerCell,
              "constant: t = time.value in every layer (a control)"),
         kLayerTimes),
    read(real("model.time.value", 0, 1, "depth-time", "0", PerCell, "t of every layer"),
         kConstantTime),
    read(real("model.time.jitter", 0, 0.5, "layers", "0", PerCell,
              "uniform jitter of t_i in training, ± this · 1/L"),
         kPerLayerTime),
    word("model.time_features.kind", "fourier geometric", "fourier", Structural,
         "sin, cos of 2πkt, or of s·t·b^(−k/K)"),
    integer("model.time_features.frequencies", 1, 1024, "–", "32", Structural,
            "K, number of frequencies"),
    or_null(flag("model.time_features.include_t", "null", Structural,
                 "t itself as a feature: 2K + 1 of them"),
            "true; tong: false"),
    read(above(real("model.time_features.t_scale", 0, kUnlimited, "–", "1000", PerCell,
                    "s of geometric features")),
         kGeometric),
    read(above(real("model.time_features.base", 1, kUnlimited, "–", "10000", PerCell,
                    "b of geometric features")),
         kGeometric),
};

constexpr Leaf kModulation[] = {
    read(integer("model.modulation.hidden", 0, 4096, "channels", "64", Structural,
                 "h_mod, hidden width of the gate network g; 0 = one linear map"),
         kNetwork),
    read(word("model.modulation.activation", "relu gelu silu tanh", "relu", Structural, "inside g"),
         kHiddenNetwork),
    read(word("model.modulation.gate", "sigmoid one_plus_tanh identity constant", "sigmoid",
              Structural, "W ⊙ σ(g), W ⊙ (1 + tanh g), W ⊙ g, or W alone (no g)"),
         kMayGate),
    word("model.modulation.granularity", "row column element", "row", Structural,
         "a gate per output, per input or per entry of a weight; or a map from target to "
         "one of these (targets left out: row)",
         ValueKind::TargetMap),
    or_null(word("model.modulation.targets", "q k v out up down", "null", Structural,
                 "weights with a gate, besides those of a state-space layer", ValueKind::WordList),
            "[q, k, v, out, up, down]; mixer ssm: [q, k, v, out]"),
    flag("model.modulation.share_qkv", "false", Structural, "one g for q, k and v"),
    real("model.modulation.bias_init", -10, 10, "–", "0", PerCell, "start of the gate's bias"),
};

constexpr Leaf kHypernet[] = {
    read(
        integer("model.hypernet.hidden", 1, 4096, "channels", "64", Structural,
                "h, width of a generator's time network: W(t) = m(t) G + W₀, m of h channels; of a "
                "generated state-space layer, of the network in front of its generators"),
        "model.family=tong or model.mixer=ssm & model.ssm.parameters=generated"),
    integer("model.hypernet.depth", 1, 4, "layers", "2", Structural,
            "affine maps of a time network, from the features to m(t)"),
    read(word("model.hypernet.activation", "silu relu gelu tanh", "silu", Structural,
              "between the maps of a time network; none behind the last"),
         "model.family=tong & model.hypernet.depth!=1"),
    read(flag("model.hypernet.generate_bias", "true", Structural,
              "biases are generated too; false: they are the same at all depths"),
         "model.family=tong & model.attention.bias|model.mlp.bias=true"),
    flag("model.hypernet.share_qkv", "false", Structural,
         "one time network and generator for q, k and v together"),
};

constexpr Leaf kStateSpace[] = {
    integer("model.ssm.state_size", 1, 1024, "states", "64", Structural, "N"),
    word("model.ssm.A", "diagonal dense", "diagonal", Structural,
         "diagonal is −softplus(·), stable under gates that are not negative; dense has N × N "
         "free entries"),
    word("model.ssm.D", "diagonal full none", "diagonal", Structural, "skip from x to y"),
    word("model.ssm.discretisation", "zoh euler none", "zoh", Structural,
         "Ā = exp(ΔA) and B̄ = φ₁(ΔA)ΔB; Ā = exp(ΔA) and B̄ = ΔB; or Ā = A and B̄ = B"),
    read(word("model.ssm.granularity", "row element", "row", Structural,
              "a gate per row or per entry of A, B, C and D"),
         "model.mixer=ssm & model.modulation.gate!=constant"),
    word("model.ssm.parameters", "shared generated", "shared", Structural,
         "shared weights under gates, or weights generated from depth-time under gates (the "
         "published program)"),
    read(real("model.ssm.dt_min", 0, 1, "token", "1e-4", PerCell, "added to softplus(g_Δ)"),
         "model.mixer=ssm & model.ssm.discretisation!=none"),
};

constexpr Leaf kInit[] = {
    or_null(word("model.init.scheme", "pytorch gpt2 xavier", "null", Structural,
                 "how weights are drawn"),
            "gpt2; hybrid_ode: pytorch"),
    read(above(real("model.init.std", 0, kUnlimited, "–", "0.02", PerCell,
                    "standard deviation of weights")),
         "model.init.scheme=gpt2"),
    or_null(above(real("model.init.embedding_std", 0, kUnlimited, "–", "null", PerCell,
                       "standard deviation of token and position tables")),
            "0.02; scheme pytorch: 1"),
    or_null(flag("model.init.residual_scaling", "null", PerCell,
                 "out and down (or C and D) are scaled by 1/√(2L)"),
            "true; scheme pytorch: false"),
    read(word("model.init.gain", "fixed learned", "fixed", Structural,
              "learned: a factor of each base matrix, from 1, with a rate of its own "
              "(train.groups.gain.lr)"),
         kTimed),
    or_null(start_from("model.init.from",
                       "weights to start from. arm:TAG: those of the last step of the cell of this "
                       "sweep with that tag and the same seed; cell:ID (or alias, or the "
                       "beginning of one): those of that cell of this sweep; identity is the "
                       "cell's id, and the cell waits for it. Else a safetensors file, or a folder "
                       "with model.safetensors (and config.json); relative to the working "
                       "directory; identity is the content, not the path. The map of a control "
                       "signal, where they lack it, starts at zero"),
            "drawn"),
    read(word("model.init.layout", "native hf-gpt2", "native", Structural,
              "names in that file: those of depthgrid export, or those of the package transformers "
              "(GPT2LMHeadModel)"),
         "model.init.from!=null"),
};

constexpr SchemaSection kModelSections[] = {
    {"Seeds", kSeeds},
    {"Model: sizes and block", kBlock},
    {"Model: residual", kResidual},
    {"Model: depth-time and its features", kTime, kFeatures},
    {"Model: modulation", kModulation, kGated},
    {"Model: generators", kHypernet, kTong},
    {"Model: state-space layer", kStateSpace, kSsm},
    {"Model: initialisation", kInit},
};

}  // namespace

std::span<const SchemaSection> model_sections() {
  return kModelSections;
}

}  // namespace depthgrid
