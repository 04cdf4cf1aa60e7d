#include "core/config/resolve/preset_deviations.hpp"

#include <array>

namespace depthgrid {
namespace {

constexpr std::string_view kBaseline = "hybrid/baseline";
constexpr std::string_view kOde = "hybrid/ode";
constexpr std::string_view kMlp = "published/time_indexed_mlp";
constexpr std::string_view kSsm = "published/time_indexed_ssm";
constexpr std::string_view kStandard = "published/standard";
constexpr std::string_view kTong = "published/tong";

constexpr std::string_view kFuture =
    "its mask compares an axis with itself and is true everywhere: every position averages over "
    "the whole window, the future included";
constexpr std::string_view kCausal = "causal; no logit depends on a later token";
constexpr std::string_view kNoClip = "gradients are not clipped (the text says 1.0)";
constexpr std::string_view kClip = "train.clip: 1.0, as in the text; none is the program's";
constexpr std::string_view kPublishedEvaluation =
    "mean of 80 windows of the classic validation text, the best of ten evaluations";
constexpr std::string_view kEvaluation =
    "the whole validation text, last weights; eval.protocol: published_1 adds the program's figure";
constexpr std::string_view kPublishedBatch =
    "eight consecutive windows after one random start, the same for every seed";
constexpr std::string_view kBatch =
    "independent windows keyed by data.seed; data.sampler: published_1 takes consecutive ones";
constexpr std::string_view kPublishedDraws = "start values as its library draws them";
constexpr std::string_view kDraws = "model.init, by counter-based random numbers";

constexpr std::string_view kPublishedTraining =
    "batches drawn anew for each model, so that the arms see different text";
constexpr std::string_view kTraining =
    "windows keyed by data.seed, the same for all arms; data.sampler: published_2 draws as it does";
constexpr std::string_view kPublishedLoss =
    "mean training loss of the last 50 steps, dropout on; no text is held out";
constexpr std::string_view kLoss =
    "the whole validation text without dropout; train_loss_last50 is the program's figure";
constexpr std::string_view kPublishedDecay = "AdamW decays everything, norms and biases too";
constexpr std::string_view kDecay = "train.no_decay: [] decays everything; some groups are exempt";

constexpr auto kDeviations = std::to_array<PresetDeviation>({
    {kBaseline, "batches", kPublishedTraining, kTraining},
    {kBaseline, "evaluation", kPublishedLoss, kLoss},
    {kBaseline, "decay", kPublishedDecay, kDecay},
    {kBaseline, "start", kPublishedDraws, kDraws},
    {kOde, "gradient",
     "by a continuous adjoint, 5 to 9 % off with four steps of Euler, where its steering results "
     "come from",
     "exact, through the steps of the solver"},
    {kOde, "field", "its paper writes a field without attention, 20,471,041 parameters",
     "the field with attention that it trains; model.field.kind: mlp is the paper's"},
    {kOde, "control", "left out while it trains on text, though its bias is a parameter",
     "the same: flow.control has no gradient"},
    {kOde, "batches", kPublishedTraining, kTraining},
    {kOde, "evaluation", kPublishedLoss, kLoss},
    {kOde, "decay", kPublishedDecay, kDecay},
    {kOde, "start", kPublishedDraws, kDraws},
    {kStandard, "name", "called the standard transformer",
     "the same six blocks of generated weights; a transformer without them is preset gpt"},
    {kStandard, "clip", kNoClip, kClip},
    {kStandard, "batches", kPublishedBatch, kBatch},
    {kStandard, "evaluation", kPublishedEvaluation, kEvaluation},
    {kStandard, "start", kPublishedDraws, kDraws},
    {kMlp, "attention", kFuture, kCausal},
    {kMlp, "clip", kNoClip, kClip},
    {kMlp, "batches", kPublishedBatch, kBatch},
    {kMlp, "evaluation", kPublishedEvaluation, kEvaluation},
    {kMlp, "start", kPublishedDraws, kDraws},
    {kSsm, "attention", kFuture, kCausal},
    {kSsm, "parameters", "A, B, C, D and Δ are generated from depth-time, against its text",
     "the same; base weights that all depths share are model.ssm.parameters: shared"},
    {kSsm, "clip", kNoClip, kClip},
    {kSsm, "batches", kPublishedBatch, kBatch},
    {kSsm, "evaluation", kPublishedEvaluation, kEvaluation},
    {kSsm, "start", kPublishedDraws, kDraws},
    {kTong, "clip", kNoClip, kClip},
    {kTong, "batches", kPublishedBatch, kBatch},
    {kTong, "evaluation", kPublishedEvaluation, kEvaluation},
    {kTong, "start", kPublishedDraws, kDraws},
});

}  // namespace

std::span<const PresetDeviation> preset_deviations() {
  return kDeviations;
}

}  // namespace depthgrid
