#include "core/config/schema/schema_rows.hpp"

namespace depthgrid {
namespace {

using enum LeafClass;

constexpr std::string_view kTrajectoryOn = "probes.trajectory.schedule!=off";
constexpr std::string_view kStatesOn =
    "probes.trajectory.schedule!=off & probes.trajectory.state_sequences!=0";
constexpr std::string_view kGradientsOn = "probes.gradients.schedule!=off";
constexpr std::string_view kLyapunovOn = "probes.lyapunov.schedule!=off";
constexpr std::string_view kSkips = "model.family=tdt|mod";
constexpr std::string_view kRoutingOn = "model.family=tdt|mod & probes.routing.schedule!=off";
constexpr std::string_view kSolverOn = "probes.solver.schedule!=off";
/// Gates, or what else scales weights along depth: temporal norms and learned gains.
constexpr FixedText kScaled = {
    kGated, " or model.family=time_indexed|tong & model.norm_kind=temporal_layer_norm",
    " or model.family=time_indexed & model.init.gain=learned"};
constexpr FixedText kGatesOn = with_each(kGated, "probes.gates.schedule!=off");

constexpr Leaf schedule(std::string_view path, std::string_view default_text,
                        std::string_view doc) {
  Leaf leaf = word(path, "off end", default_text, Observation, doc, ValueKind::Schedule);
  leaf.unit = "steps";
  return leaf;
}

constexpr Leaf kProbes[] = {
    or_null(integer("probes.set.sequences", 1, 4096, "sequences", "null", Observation,
                    "size of the probe set, the same for all cells"),
            "max(8, 1024/T rounded up)"),
    word("probes.set.split", "train dev valid", "dev", Observation,
         "where the probe set is drawn; train if there is no such split"),
    integer("probes.set.seed", 0, 1e15, "–", "0", Observation, "of the draw"),
    schedule("probes.trajectory.schedule", "{every: 200}",
             "norms, speed, curvature, angles, ranks and similarity of the states along depth"),
    read(word("probes.trajectory.token_classes", "all first frequent rare space", "[all]",
              Observation,
              "averages by class of token: first in the window, the most and the least frequent "
              "tenth of the training tokens, white space",
              ValueKind::WordList),
         kTrajectoryOn),
    read(flag("probes.trajectory.cka", "true", Observation,
              "similarity of depths by CKA, debiased; needs 1024 tokens"),
         kTrajectoryOn),
    read(integer("probes.trajectory.state_sequences", 0, 4096, "sequences", "0", Observation,
                 "of the probe set, whose raw states are kept at each measurement"),
         kTrajectoryOn),
    read(or_null(
             integer(
                 "probes.trajectory.state_channels", 1, 8192, "channels", "null", Observation,
                 "channels that are kept, drawn by probes.set.seed, the same at each measurement"),
             "all"),
         kStatesOn),
    read(word("probes.trajectory.state_dtype", "f16 f32", "f16", Observation,
              "precision to which they are rounded"),
         kStatesOn),
    read(integer("probes.trajectory.max_bytes", 0, 1e15, "bytes", "67108864", Observation,
                 "that raw states may take per cell, before compression; more is refused"),
         kStatesOn),
    read(schedule("probes.gates.schedule", "{every: 100}",
                  "modulation gates, temporal norms, learned gains"),
         kScaled),
    read(integer("probes.gates.bins", 2, 256, "–", "32", Observation, "bins of the histogram"),
         kGatesOn),
    read(integer("probes.gates.grid", 2, 1024, "–", "64", Observation,
                 "depth-times of the fine grid, for the total variation"),
         kGatesOn),
    read(schedule("probes.routing.schedule", "{every: 500}",
                  "which tokens layers skip, and how gates and routers choose them"),
         kSkips),
    read(or_null(integer("probes.routing.mask_sequences", 0, 16, "sequences", "null", Observation,
                         "of the probe set, whose masks are kept"),
                 "8, or all of a smaller set"),
         kRoutingOn),
    schedule("probes.gradients.schedule", "{every: 200}",
             "norm of the loss gradient by the states along depth"),
    read(above(real("probes.gradients.vanish_below", 0, kUnlimited, "–", "1e-6", Observation,
                    "counts steps in which the gradient of a layer is smaller, before the clip")),
         kGradientsOn),
    read(above(real("probes.gradients.explode_above", 0, kUnlimited, "–", "100", Observation,
                    "counts steps in which the gradient of a layer is larger, before the clip")),
         kGradientsOn),
    read(flag("probes.gradients.norms", "false", Observation,
              "what `regularisers` name, of any flow or layers and signal: ‖J‖₂, μ₂(J), ‖J‖_F, "
              "‖∂H/∂u‖_F"),
         kGradientsOn),
    schedule("probes.logit_lens.schedule", "end",
             "loss and agreement when the head reads the state at each depth"),
    schedule("probes.lyapunov.schedule", "off",
             "finite-time Lyapunov exponents of the depth, largest stretches of its steps"),
    read(integer("probes.lyapunov.exponents", 1, 64, "–", "8", Observation, "k, the largest ones"),
         kLyapunovOn),
    read(integer("probes.lyapunov.oversampling", 0, 64, "–", "8", Observation,
                 "further directions of the subspace iteration"),
         kLyapunovOn),
    read(integer("probes.lyapunov.iterations", 1, 32, "–", "4", Observation,
                 "at most, of the subspace iteration"),
         kLyapunovOn),
    read(above(real("probes.lyapunov.tolerance", 0, 1, "–", "1e-3", Observation,
                    "relative change of the k-th singular value at which it ends")),
         kLyapunovOn),
    read(or_null(integer("probes.lyapunov.sequences", 1, 64, "sequences", "null", Observation,
                         "of the probe set, averaged over"),
                 "8, or all of a smaller set"),
         kLyapunovOn),
    read(word("probes.lyapunov.variants", "raw normalised relative", "[raw]", Observation,
              "of the depth, with the final norm after it, or relative to the growth of the state",
              ValueKind::WordList),
         kLyapunovOn),
    read(word("probes.lyapunov.precision", "f32 f64", "f32", Observation,
              "of the depth that is differentiated; f64: of a copy of the weights"),
         kLyapunovOn),
    read(integer("probes.lyapunov.influence_probes", 0, 1024, "–", "0", Observation,
                 "random directions of the influence map; 0 = none"),
         kLyapunovOn),
    read(flag("probes.lyapunov.tong_compat", "false", Observation,
              "a published procedure too, for replication only: it is no exponent of the network"),
         kLyapunovOn),
    schedule("probes.attention.schedule", "{every: 500}",
             "entropy and distance of each head's attention, its share on the first token and on "
             "the token itself"),
    schedule("probes.weights.schedule", "end",
             "singular values and eigenvalues of each head's products, norms of the weights"),
    or_null(schedule("probes.solver.schedule", "null",
                     "the model's steps against the solution of the field that they discretise"),
            "hybrid_ode: {at: [0 %, 100 %]}; else off"),
    read(word("probes.solver.methods", "euler_m euler_2m rk4 dopri5",
              "[euler_m, euler_2m, rk4, dopri5]", Observation, "integrations that are compared",
              ValueKind::WordList),
         kSolverOn),
    read(above(real("probes.solver.rtol", 0, 1, "–", "1e-6", Observation,
                    "relative tolerance of dopri5; the reference has a hundredth")),
         kSolverOn),
    read(or_null(above(real("probes.solver.atol", 0, kUnlimited, "–", "null", Observation,
                            "absolute tolerance of dopri5")),
                 "rtol/100"),
         kSolverOn),
    read(integer("probes.solver.max_steps", 1, 1e9, "steps", "1000", Observation,
                 "of dopri5; reaching it is a status"),
         kSolverOn),
    read(above(real("probes.solver.min_step", 0, 1, "depth-time", "1e-8", Observation,
                    "of dopri5; reaching it is a status")),
         kSolverOn),
    read(flag("probes.solver.negative_control", "true", Observation,
              "the same on independent layers of equal displacement, where no order exists"),
         kSolverOn),
    read(schedule("probes.ssm.schedule", "{every: 100}",
                  "steps, eigenvalues, memory and states of the state-space layers"),
         kSsm),
};

constexpr SchemaSection kProbeSections[] = {{"Probes", kProbes}};

}  // namespace

std::span<const SchemaSection> probe_sections() {
  return kProbeSections;
}

}  // namespace depthgrid
