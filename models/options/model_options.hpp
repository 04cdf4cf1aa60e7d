#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "core/config/axis_labels.hpp"
#include "core/config/family_facts.hpp"
#include "core/depth/depth_grid.hpp"
#include "core/depth/recomputed_depth.hpp"
#include "core/depth/stepper.hpp"
#include "models/ops/per_cell_norm.hpp"
#include "models/options/control_options.hpp"
#include "models/options/leaf_readers.hpp"
#include "models/options/regulariser_options.hpp"
#include "models/options/routing_options.hpp"

namespace depthgrid {

enum class Sublayers : std::uint8_t { Sequential, Parallel };
enum class Positions : std::uint8_t { Learned, Rope, None };
enum class Activation : std::uint8_t { Gelu, GeluTanh, Relu, Silu, Tanh, Swiglu, Softplus };
enum class NormChoice : std::uint8_t { Layer, Rms, TemporalLayer, None };
enum class AttentionKind : std::uint8_t { Auto, Sdpa, Explicit };
enum class InitScheme : std::uint8_t { Pytorch, Gpt2, Xavier };
enum class ScaleKind : std::uint8_t { Fixed, Learned, LearnedPerLayer };
enum class FeatureKind : std::uint8_t { Fourier, Geometric };
enum class GateKind : std::uint8_t { Sigmoid, OnePlusTanh, Identity, Constant };
enum class Granularity : std::uint8_t { Row, Column, Element };
enum class Mixer : std::uint8_t { Mlp, Ssm };
enum class SsmSkip : std::uint8_t { Diagonal, Full, None };
enum class Discretisation : std::uint8_t { Zoh, Euler, None };
enum class FieldKind : std::uint8_t { AttentionMlp, TimeIndexed, Mlp, Block };
enum class Share : std::uint8_t { None, All, Attention, FeedForward };

/// The six weight types of a block, in the order of `model.modulation.targets`.
enum class WeightType : std::uint8_t { Q, K, V, Out, Up, Down };
constexpr std::size_t kWeightTypes = 6;

/// Δt, the residual scale: one number per cell, or the initial value of a learned one.
struct ResidualOptions {
  ScaleKind kind = ScaleKind::Fixed;
  std::vector<double> scale;  // (E)
};

/// Where on the depth axis a step-indexed field is evaluated, and its depth-time features.
struct TimeOptions {
  std::vector<Nodes> nodes;    // (E)
  std::vector<bool> constant;  // (E) t = value in every layer
  std::vector<double> value;   // (E)
  std::vector<double> jitter;  // (E) in layers
  FeatureKind kind = FeatureKind::Fourier;
  std::int64_t frequencies = 32;  // K
  bool include_t = true;
  std::vector<double> t_scale;  // (E) geometric
  std::vector<double> base;     // (E) geometric

  std::int64_t features() const { return 2 * frequencies + (include_t ? 1 : 0); }
};

/// g_phi and how its gate is applied to a weight.
struct ModulationOptions {
  std::int64_t hidden = 64;  // h_mod; 0 = one linear map
  Activation activation = Activation::Relu;
  GateKind gate = GateKind::Sigmoid;
  std::array<bool, kWeightTypes> target{};
  std::array<Granularity, kWeightTypes> granularity{};
  bool share_qkv = false;
  std::vector<double> bias_init;  // (E)
  std::vector<double> init_gain;  // (E) factor on the initial last matrix of g
  double value = 1;               // factor of the weights if there is no g
};

/// The networks that generate a block's weights from depth-time.
struct HypernetOptions {
  std::int64_t hidden = 64;  // E_t, width of a time network and of the generator's input
  std::int64_t depth = 2;    // affine maps of a time network
  Activation activation = Activation::Silu;
  bool generate_bias = true;
  bool share_qkv = false;
  bool per_layer = false;  // L sets of generators instead of one (`model.share: none`)
};

/// The state-space layer that replaces the feed-forward sublayer.
struct SsmOptions {
  std::int64_t states = 64;  // N
  bool dense = false;        // A has N x N entries, not N
  SsmSkip skip = SsmSkip::Diagonal;
  Discretisation discretisation = Discretisation::Zoh;
  bool element = false;             // gates of A, B, C, D per entry, not per row
  bool generated = false;           // A, B, C, D, Δ are generated from depth-time, not shared
  std::int64_t generator = 64;      // hidden width of their generator
  std::vector<double> dt_min = {};  // (E) added to softplus of Δ
};

/// The flow that replaces the layers [first, last); none if they are equal.
struct FlowOptions {
  std::int64_t first = 0, last = 0;
  FieldKind field = FieldKind::AttentionMlp;
  std::int64_t hidden = 1024;
  Activation activation = Activation::Gelu;
  Sublayers sublayers = Sublayers::Parallel;
  bool time_embedding = true;
  bool alpha_learned = true;
  std::vector<double> alpha;       // (E) initial value if learned
  std::vector<double> output_std;  // (E) initial std of the last matrix of field mlp
  bool mask_per_solve = false;     // dropout masks are drawn once per solve, not per evaluation

  std::int64_t replaced() const { return last - first; }
};

/// How a flow is solved: that of family hybrid_ode, or the whole depth of a family whose block
/// depends on depth-time, dH/dt = L Δt F(H, t).
struct DepthSolver {
  const Stepper* method = &stepper("euler");
  std::int64_t steps = 0;  // m; 0: one for each layer

  /// Evaluations of the field per solve.
  std::int64_t evaluations() const { return method->evaluations(steps); }
};

struct InitOptions {
  InitScheme scheme = InitScheme::Gpt2;
  std::vector<double> std;             // (E)
  std::vector<double> embedding_std;   // (E)
  std::vector<bool> residual_scaling;  // (E) 1/sqrt(2L) on out and down
  bool learned_gain = false;           // time_indexed: a factor of each base matrix
};

/// Everything a family reads, for E cells of equal structure: structural leaves once, per-cell
/// leaves as vectors of E.
struct ModelOptions {
  std::string family;
  at::Device device = at::kCPU;   // where parameters and constants of a pass live
  std::int64_t cells = 1;         // E
  std::int64_t width = 256;       // C = d_model
  std::int64_t layers = 6;        // L
  std::int64_t heads = 4;         // H
  std::int64_t hidden = 1024;     // d_ff
  std::int64_t vocabulary = 256;  // V
  std::int64_t max_tokens = 128;  // rows of a learned position table
  Share share = Share::None;      // standard: what all layers have in common
  Sublayers sublayers = Sublayers::Sequential;
  NormChoice norm = NormChoice::Layer;
  NormChoice final_norm = NormChoice::Layer;
  std::vector<double> norm_eps;  // (E)
  std::int64_t temporal_hidden = 64;
  Positions positions = Positions::Learned;
  std::vector<double> rope_base;  // (E)
  Activation activation = Activation::Gelu;
  AttentionKind attention = AttentionKind::Auto;
  bool attention_bias = true;
  bool mlp_bias = true;
  bool tie_embeddings = false;
  std::vector<double> dropout_attention;  // (E)
  std::vector<double> dropout_mlp;        // (E)
  ResidualOptions residual;
  TimeOptions time;
  ModulationOptions modulation;
  HypernetOptions hypernet;
  Mixer mixer = Mixer::Mlp;
  SsmOptions ssm;
  RoutingOptions routing;
  TdtOptions tdt;
  ModOptions mod;
  FlowOptions flow;
  DepthSolver solver;
  ControlOptions control;
  InitOptions init;
  GradientPlan gradient;
  RegulariserOptions regularisers;

  /// Rows of the up projection: twice the hidden width for a gated activation.
  std::int64_t up_rows() const { return activation == Activation::Swiglu ? 2 * hidden : hidden; }
  /// Depth steps: one per layer, m for a flow.
  std::int64_t depth_steps() const {
    if (flow.replaced() > 0) return layers - flow.replaced() + solver.steps;
    return timed() && solver.steps > 0 ? solver.steps : layers;
  }
  /// The whole depth is solved otherwise than by one step of Euler for each layer.
  bool solved() const { return timed() && (between_nodes() || depth_steps() != layers); }
  /// Then something evaluates the field where no step begins.
  bool between_nodes() const {
    return solver.method->composed() || gradient.mode == GradientMode::Adjoint ||
           regularisers.has(Regulariser::Acceleration);
  }
  /// Evaluations of ordinary blocks per pass, those of layers that no flow replaces.
  std::int64_t block_evaluations() const {
    return timed() ? solver.method->evaluations(depth_steps()) : layers - flow.replaced();
  }
  /// This family's row in the table of families.
  const FamilyFacts& facts() const { return facts_of(family); }
  /// The family depends on depth-time.
  bool timed() const { return facts().timed; }
  /// One set of parameters yields the blocks of all depths.
  bool shared() const { return timed() ? !hypernet.per_layer : share == Share::All; }
};

/// Reads the model leaves of cells that share a structure.
/// @param cells  at least one; structural leaves are taken from the first.
ModelOptions model_options(const CellConfigs& cells);

}  // namespace depthgrid
