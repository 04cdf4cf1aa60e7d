#include <algorithm>
#include <span>

#include "core/config/presets.hpp"

namespace depthgrid {
namespace {

/// Common to the presets of the first study's program.
constexpr PresetDeviation kFirstProgram[] = {
    {"clip", "gradients are not clipped (the text says 1.0)",
     "train.clip: 1.0, as in the text; none is the program's"},
    {"batches", "eight consecutive windows after one random start, the same for every seed",
     "independent windows keyed by data.seed; data.sampler: published_1 takes consecutive ones"},
    {"evaluation", "mean of 80 windows of the classic validation text, the best of ten evaluations",
     "the whole validation text, last weights; eval.protocol: published_1 adds the program's "
     "figure"},
    {"start", "start values as its library draws them",
     "model.init, by counter-based random numbers"},
};

/// The same of the second study's.
constexpr PresetDeviation kSecondProgram[] = {
    {"batches", "batches drawn anew for each model, so that the arms see different text",
     "windows keyed by data.seed, the same for all arms; data.sampler: published_2 draws as it "
     "does"},
    {"evaluation", "mean training loss of the last 50 steps, dropout on; no text is held out",
     "the whole validation text without dropout; train_loss_last50 is the program's figure"},
    {"decay", "AdamW decays everything, norms and biases too",
     "train.no_decay: [] decays everything; some groups are exempt"},
    {"start", "start values as its library draws them",
     "model.init, by counter-based random numbers"},
};

constexpr PresetDeviation kOde[] = {
    {"gradient",
     "by a continuous adjoint, 5 to 9 % off with four steps of Euler, where its steering results "
     "come from",
     "exact, through the steps of the solver"},
    {"field", "its paper writes a field without attention, 20,471,041 parameters",
     "the field with attention that it trains; model.field.kind: mlp is the paper's"},
    {"control", "left out while it trains on text, though its bias is a parameter",
     "the same: flow.control has no gradient"},
};

constexpr PresetDeviation kStandard[] = {
    {"name", "called the standard transformer",
     "the same six blocks of generated weights; a transformer without them is preset gpt"},
};

constexpr PresetDeviation kTimeIndexed[] = {
    {"attention",
     "its mask compares an axis with itself and is true everywhere: every position averages over "
     "the whole window, the future included",
     "causal; no logit depends on a later token"},
    {"parameters", "A, B, C, D and Δ are generated from depth-time, against its text",
     "the same; base weights that all depths share are model.ssm.parameters: shared"},
};

using Deviations = std::span<const PresetDeviation>;

struct DeviatingPreset {
  std::string_view name;
  Deviations own, common;
};

constexpr DeviatingPreset kDeviating[] = {
    {"hybrid/baseline", {}, kSecondProgram},
    {"hybrid/ode", kOde, kSecondProgram},
    {"published/standard", kStandard, kFirstProgram},
    {"published/time_indexed_mlp", Deviations(kTimeIndexed).first(1), kFirstProgram},
    {"published/time_indexed_ssm", kTimeIndexed, kFirstProgram},
    {"published/tong", {}, kFirstProgram},
};

}  // namespace

std::vector<PresetDeviation> preset_deviations(std::string_view preset) {
  std::vector<PresetDeviation> out;
  const auto* const row = std::ranges::find(kDeviating, preset, &DeviatingPreset::name);
  if (row == std::end(kDeviating)) return out;
  out.assign(row->own.begin(), row->own.end());
  out.insert(out.end(), row->common.begin(), row->common.end());
  return out;
}

}  // namespace depthgrid
