#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/depth/depth_grid.hpp"
#include "core/depth/integrator.hpp"
#include "core/probe/gate_values.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/context/execution_mode.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A term that a family adds to the training loss: weight · mean over its layers and tokens.
struct LossTerm {
  std::string_view name;            // recorded as train_loss_NAME, before its weight
  std::vector<double> weight = {};  // (E)
  /// A zero term, not recorded: its gradient carries observations to averages. Comes last.
  bool observes = false;
};

/// A parameter that receives no gradient from the training loss.
struct DeadParameter {
  std::string name;
  std::string reason;
};

/// One way of letting depth act: its parameters, the grid it walks and the field on that grid.
///
/// A family is one file in models/families and one row of model_factory.cpp. Embedding, readout,
/// training, evaluation and storage are the same for all.
class Family {
 public:
  virtual ~Family() = default;

  /// Nodes and step lengths of one pass over the whole depth.
  virtual DepthGrid grid(const ForwardContext& context) const = 0;

  /// The same steps with what runs them, cut where method or field changes: one run of Euler's
  /// steps, unless a part of the depth is a flow. What depends on the nodes alone is computed here,
  /// once for all of them.
  /// @param context  must outlive the fields.
  virtual std::vector<DepthSegment> segments(const ForwardContext& context) const = 0;

  /// The blocks that the field runs at the nodes of an evaluation grid, for decoding token by token
  /// (models/decode): one per step, that at its beginning; empty if the family offers none.
  virtual std::vector<DecodeBlock> blocks(const DepthGrid& /*grid*/) const { return {}; }

  /// The block of the family's flow at any of the flow's times, for the further evaluations of a
  /// step. @param t  (E). @throws Error if no part of the depth is a flow.
  virtual DecodeBlock block_at(const at::Tensor& /*t*/) const {
    throw Error("no part of this depth is a flow");
  }

  /// The block at each step of the evaluation grid, for diagnostics; where a step evaluates its
  /// field several times, that at its beginning. What a step does not have is undefined.
  virtual std::vector<BlockWeights> step_weights() const {
    std::vector<BlockWeights> out;
    for (DecodeBlock& block : blocks(grid({}))) out.push_back(std::move(block.weights));
    return out;
  }

  /// Depth-time features at the readout, for a temporal final norm: (E, 1, F); undefined if the
  /// family has no depth-time.
  virtual at::Tensor readout_features() const { return {}; }

  /// Depth-times at which the steps of the evaluation grid read their weights' gates: (E, L), NaN
  /// for a step without gates; undefined if the family has none.
  virtual at::Tensor gate_times() const { return {}; }

  /// Gates of each gated type of weight at any depth-times, for diagnostics. @param tau  (E, n).
  virtual std::vector<GateValues> gates(const at::Tensor& /*tau*/) const { return {}; }

  /// Scales and shifts of temporal norms, gates of state-space layers and learned gains at the
  /// nodes of the evaluation grid, for diagnostics.
  virtual std::vector<DepthFactor> depth_factors() const { return {}; }

  /// Discrete transitions Ā of the state-space layers at the nodes of the evaluation grid, for
  /// diagnostics: (E, L, N) or (E, L, N, N); undefined without such layers.
  virtual at::Tensor transitions() const { return {}; }

  /// Their steps Δ there: (E, L, N), in tokens; undefined without them or without discretisation.
  virtual at::Tensor state_space_steps() const { return {}; }

  /// Training loss terms besides the language model's; a pass adds their sums to
  /// ForwardContext::losses in this order.
  virtual std::vector<LossTerm> loss_terms() const { return {}; }

  /// Execution mode of a training pass, and whether its logits are causal.
  virtual DeclaredMode training_mode() const { return {"dense", ExecutionMode::Dense}; }

  /// The execution modes of evaluation. If there are several, a pass without
  /// ForwardContext::execution runs the student, which is causal.
  virtual std::vector<DeclaredMode> modes() const { return {{"dense", ExecutionMode::Dense}}; }

  /// Parameters without gradient in training, and why; empty for most families.
  virtual std::vector<DeadParameter> dead_parameters() const { return {}; }
};

/// Builds a family over its parameters.
using FamilyBuilder = std::function<std::unique_ptr<Family>(ParameterSource&, const ModelOptions&)>;

}  // namespace depthgrid
