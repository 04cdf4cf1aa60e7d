#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr std::string_view kWithSignal = "model.control.dim!=0";
constexpr std::string_view kIntoField = "model.control.dim!=0 & model.control.sites=flow|both";
constexpr std::string_view kIntoLayers = "model.control.dim!=0 & model.control.sites=layers|both";
constexpr std::string_view kAlongDepth = "model.control.dim!=0 & model.control.sites!=token";

constexpr Leaf kControlRows[] = {
    or_null(integer("model.control.dim", 0, 64, "axes", "null", Structural,
                    "c, axes of a control signal u that enters the depth; without a signal its "
                    "maps are left out; 0 = none"),
            "the number of model.control.names"),
    structural(text("model.control.names", "[]",
                    "attribute of each axis, such as [long, digits, passive]; [] = unnamed",
                    ValueKind::TextList)),
    read(
        or_null(word("model.control.sites", "flow layers both token", "", Structural,
                     "where u enters: the field of a flow, the inputs of discrete layers, both, "
                     "or as a prefix of c vectors, each times its component of u, before the text"),
                "flow; layers where there is none"),
        kWithSignal),
    read(or_null(word("model.control.injection", "additive film concat", "", Structural,
                      "how u enters a field: W u added to its input; a scale 1 + G u and a shift "
                      "S u of what its norms or its hidden layer hold; or beside the state, as "
                      "further inputs of its first maps"),
                 "additive; field mlp: concat"),
         kIntoField),
    read(or_null(word("model.control.layers", "all", "", Structural,
                      "discrete layers whose inputs are moved by W u, counted from 0",
                      ValueKind::LayerList),
                 "the first layer that no flow replaces"),
         kIntoLayers),
    read(word("model.control.neutral", "identity bias", "identity", Structural,
              "the map of the signal has no bias, so that u = 0 means no signal to the bit, or it "
              "has one"),
         "model.control.dim!=0 & model.control.sites=flow|both & model.control.injection=additive "
         "& model.field.kind=attention_mlp|time_indexed & train.task=lm|steering"),
    read(
        fused(null_means(make_row("model.control.u", ValueKind::RealList, "–", "null", PerCellUnion,
                                  "u of every token while text is trained and evaluated: a number "
                                  "for each axis"),
                         "no signal"),
              FusionPart::Alternative),
        "model.control.dim!=0 & train.task=lm"),
    read(word("model.control.schedule", "constant ramp_up ramp_down window", "constant", PerCell,
              "profile over depth-time t from 0 to 1, a factor of u: 1, t, 1 − t, or 1 within "
              "model.control.window and 0 outside"),
         kAlongDepth),
    read(ranged_list("model.control.window", 0, 1, "depth-time", "[0, 1]", PerCell,
                     "[a, b]: the profile is 1 for a ≤ t ≤ b"),
         "model.control.dim!=0 & model.control.sites!=token & model.control.schedule=window"),
};

constexpr std::string_view kLabelled = "train.task=control";
constexpr std::string_view kScored =
    "train.task=control & train.control.labels.source=rules|scores|command";
constexpr std::string_view kFurtherTerms =
    "train.task=control & train.control.contrastive!=0 or train.task=control & "
    "train.control.attribute!=0 or train.task=control & train.control.anchor!=0";

constexpr Leaf kLabelRows[] = {
    word("train.control.labels.source", "rules file scores command", "rules", Structural,
         "where labels come from: rules of this program; the user's labels of documents; the "
         "user's scores of sentences; a program of the user's that scores them"),
    file_leaf(read(or_null(text("train.control.labels.file", "null",
                                "JSONL of documents with their labels, in [−1, 1]; identified by "
                                "its bytes"),
                           "none"),
                   "train.task=control & train.control.labels.source=file")),
    file_leaf(read(or_null(text("train.control.labels.scores", "null",
                                "JSONL of scores by the SHA-256 of a sentence's bytes; identified "
                                "by its bytes"),
                           "none"),
                   "train.task=control & train.control.labels.source=scores")),
    read(structural(text("train.control.labels.command", "[]",
                         "the program that scores sentences and its arguments, as a list; it is "
                         "asked before the first step, and its answers are kept",
                         ValueKind::TextList)),
         "train.task=control & train.control.labels.source=command"),
    read(above(real("train.control.labels.timeout", 0, kUnlimited, "s", "3600", Execution,
                    "after which that program is ended")),
         "train.task=control & train.control.labels.source=command"),
    word("train.control.labels.span", "sentence window document", "sentence", Structural,
         "what a label covers: the tokens of its sentence; or, as the mean over its tokens, the "
         "window; or the spans of the user's file as they are"),
    read(word("train.control.labels.terminator", "spaced raw", "spaced", Structural,
              "what ends a sentence: . ! ? between white space, as in WikiText, or followed by it; "
              "line breaks always do"),
         "train.task=control & train.control.labels.source=rules|scores|command or "
         "train.task=control & train.control.labels.span=sentence"),
    read(or_null(word("train.control.labels.map", "rank sign probability", "", PerCell,
                      "score to u: 2q − 1 of its mid-rank q among the training sentences, ±1 by "
                      "the threshold, or 2s − 1 of a score s in [0, 1]"),
                 "rank of ordinal attributes, sign of those with two scores"),
         kScored),
    word("train.control.labels.shuffle", "none sentences constant", "none", PerCell,
         "negative controls: labels change places among the sentences, or all of them are 1"),
    real("train.control.neutral", 0, 1, "–", "0.3", PerCell, "share of windows with u = 0"),
    read(real("train.control.onset", 0, 1, "–", "0.5", PerCell,
              "share of the others with u = 0 before a sentence's end in them, as after a prompt"),
         "train.task=control & train.control.labels.span=sentence|document"),
    above(real("train.control.keep", 0, 1, "–", "0.5", PerCell,
               "chance of each axis to be kept in a window; at least one is")),
    real("train.control.noise", 0, 1, "–", "0.05", PerCell,
         "standard deviation of noise on u of ordinal attributes"),
    word("train.control.values", "continuous ternary", "continuous", PerCell,
         "u as it is, or the nearest of −1, 0 and 1"),
    read(word("train.control.trainable", "all flow control", "all", PerCell,
              "what is trained: everything, the flow with the maps of u, or these maps alone"),
         "train.task=control|steering"),
    above(real("train.control.lr_scale", 0, kUnlimited, "–", "0.5", PerCell,
               "rate of every group over train.lr, unless train.groups says otherwise")),
    above(real("train.control.control_lr_scale", 0, kUnlimited, "–", "10", PerCell,
               "the same of the maps of u, at most 0.01; they do not decay")),
    fused(
        real("train.control.contrastive", 0, 1000, "–", "0", PerCellUnion,
             "weight of the loss by which a sentence's likelihoods under u = ±1 predict its label"),
        FusionPart::Alternative),
    fused(real("train.control.attribute", 0, 1000, "–", "0", PerCellUnion,
               "weight of the loss by which the words that the model expects under a drawn u have "
               "that label, for a classifier of words fitted on the training sentences"),
          FusionPart::Alternative),
    fused(real("train.control.anchor", 0, 1000, "–", "0", PerCellUnion,
               "weight of the divergence of the model at u = 0 from the one it started from"),
          FusionPart::Alternative),
    read(above(real("train.control.contrastive_rows", 0, 1, "–", "0.25", Structural,
                    "share of the windows on which these three are computed; at least one")),
         kFurtherTerms),
};

constexpr Leaf kSteeringRows[] = {
    word("train.steering.prompts", "published builtin file", "builtin", Structural,
         "prompts and the words that the signal chooses between: the one of the published recipe; "
         "those of this program (axes sentiment and scale); one's own"),
    file_leaf(read(or_null(text("train.steering.file", "null",
                                "JSONL of prompts, identified by its bytes: axis, part (train or "
                                "heldout), prompt, positive and negative words"),
                           "none"),
                   "train.task=steering & train.steering.prompts=file")),
    word("train.steering.mass", "token set", "set", Structural,
         "what is made probable: the first word of the set, or any of it"),
};

constexpr SchemaSection kControlSections[] = {
    {"Model: control signal", kControlRows, ""},
    {"Training with a control signal", kLabelRows, kLabelled},
    {"Training with prompts", kSteeringRows, "train.task=steering"}};

}  // namespace

std::span<const SchemaSection> control_sections() {
  return kControlSections;
}

}  // namespace depthgrid
