#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/axis_labels.hpp"
#include "core/probe/continuous_depth.hpp"
#include "core/probe/gate_values.hpp"
#include "core/probe/probe_set.hpp"
#include "core/probe/record.hpp"

namespace depthgrid {

/// The matrices of one depth step as they act there, y = x W^T, times their gates. An undefined
/// tensor: the step has none. A feed-forward sublayer with a gated activation has both of its
/// matrices in `up`.
struct StepWeights {
  at::Tensor q, k, v;   // (E, C, C): H heads of C/H rows each
  at::Tensor out;       // (E, C, C): H heads of C/H columns each
  at::Tensor up, down;  // (E, hidden, C), (E, C, hidden)
};

/// All probes of a job put their types of weight on one axis: kWeightTypeNames, and those of the
/// state-space layers that have gates.
/// @param factors  ProbeSubject::depth_factors()
inline SeriesAxis weight_type_axis(const std::vector<DepthFactor>& factors) {
  std::vector<std::string> types(kWeightTypeNames.begin(), kWeightTypeNames.end());
  for (const DepthFactor& factor : factors) {
    if (const auto type = gated_type(factor.name); !type.empty()) types.emplace_back(type);
  }
  const auto length = static_cast<std::int64_t>(types.size());
  return {.name = "weight_type", .length = length, .labels = std::move(types)};
}

/// What the state-space layers of a model are along the sequence, at the nodes of its steps.
struct StateSpaceLayers {
  at::Tensor transition;  // Ā: (E, L, N) diagonal or (E, L, N, N); undefined without such layers
  at::Tensor delta;       // Δ: (E, L, N) in tokens; undefined if they are not discretised
};

/// How a DepthTrack computes its steps.
enum class TrackPath : std::uint8_t {
  Kernels,  // as training does; autograd differentiates it once
  Composed  // the same mathematics from operations that autograd differentiates twice
};

/// The depth of a model, cut into its steps, as functions of the state: pure, with the weights of
/// the time when it was made.
class DepthTrack {
 public:
  virtual ~DepthTrack() = default;

  /// The state after step `to`, given the one after step `from`. 0 <= from <= to <= L; step 0
  /// stands for the embedding. A method that remembers earlier steps begins afresh at `from`.
  /// @param x  (E, B, T, C); B and T are the caller's. @return the same shape. Gradients pass if
  ///           they are enabled.
  virtual at::Tensor advance(const at::Tensor& x, std::int64_t from, std::int64_t to) const = 0;
};

/// Receives the attention weights of a depth step: (E, B, H, T, T), queries before keys.
using AttentionSink = std::function<void(std::int64_t step, const at::Tensor& weights)>;

/// Receives the weights of a depth step; they may be views of the parameters.
using WeightSink = std::function<void(std::int64_t step, const StepWeights& weights)>;

/// A job as probes see it: its model with the weights of now, and the probe set. Everything is
/// evaluated without draws. Nothing mixes cells, and nothing changes a bit of the training.
class ProbeSubject {
 public:
  virtual ~ProbeSubject() = default;

  virtual std::int64_t cells() const = 0;  // E
  virtual std::int64_t depth() const = 0;  // L, steps along depth

  /// Depth-times of the states H_0 ... H_L: (E, L + 1) double, host.
  virtual at::Tensor edge_times() const = 0;

  virtual const ProbeSet& set() const = 0;

  /// H_0 ... H_L of sequences first ... first + count - 1, by one pass as in training (which
  /// tokens a layer skips is what training selects), without gradients.
  /// @return L + 1 tensors (E, count, T, C) float.
  virtual std::vector<at::Tensor> states(std::int64_t first, std::int64_t count) const = 0;

  /// H_0 alone of these sequences, with the same bits. @return (E, count, T, C) float
  virtual at::Tensor start(std::int64_t first, std::int64_t count) const {
    return states(first, count).front();
  }

  /// The steps as functions. Layers that skip tokens execute all of them here.
  virtual std::unique_ptr<DepthTrack> track(TrackPath path) const = 0;

  /// Gradients ∂ℓ/∂H_0 ... ∂ℓ/∂H_L, where ℓ is the mean loss per token of a sequence, in nats; what
  /// a method remembers of earlier steps is held.
  /// Layers that skip tokens execute all of them. Parameters get no gradient.
  /// @return L + 1 tensors (E, count, T, C) float.
  virtual std::vector<at::Tensor> state_gradients(std::int64_t first, std::int64_t count) const = 0;

  /// What training's way to the gradient of a flow is worth here: the error of its adjoint, the
  /// defect of its reversible steps, the error of their undoing; (E) double each, undefined where
  /// it is computed otherwise.
  struct GradientModeErrors {
    at::Tensor adjoint, defect, undone;
  };
  virtual GradientModeErrors gradient_mode_errors(std::int64_t /*first*/,
                                                  std::int64_t /*count*/) const {
    return {};
  }
  /// What regularisers name: norms of the field's Jacobian as training estimates them, and as they
  /// are, and how the last state follows the control signal; (E) double each, undefined where there
  /// is none.
  struct RegularisedNorms {
    at::Tensor spectral_estimate, log_estimate, spectral, log, frobenius, control_slope;
  };
  /// @param all  also those that no regulariser of this training is of.
  virtual RegularisedNorms regularised_norms(std::int64_t /*first*/, std::int64_t /*count*/,
                                             bool /*all*/) const {
    return {};
  }
  /// Which of them this subject has.
  virtual bool has_spectral_norm() const { return false; }
  virtual bool has_log_norm() const { return false; }
  virtual bool has_field() const { return false; }  // whose Jacobian norms are of
  virtual bool has_signal() const { return false; }
  virtual bool has_adjoint() const { return false; }
  virtual bool has_reversible() const { return false; }

  /// The final norm, which the logits see; autograd differentiates it twice.
  /// @param x  (E, B, T, C). @return the same shape.
  virtual at::Tensor final_norm(const at::Tensor& x) const = 0;

  /// Final norm and head. @param x  (E, B, T, C). @return (E, B, T, V), without gradients
  virtual at::Tensor logits(const at::Tensor& x) const = 0;

  /// Depth-times at which the steps read their gates: (E, L) double, NaN for a step that has none;
  /// undefined for models without gates.
  virtual at::Tensor gate_times() const = 0;

  /// Gates at any depth-times, without gradients; empty for models without gates.
  /// @param tau  (E, n) double.
  virtual std::vector<GateValues> gates(const at::Tensor& tau) const = 0;
  virtual GateRange gate_range() const = 0;

  /// The other factors of the steps, without gradients; empty for most models.
  virtual std::vector<DepthFactor> depth_factors() const { return {}; }

  /// Heads of the steps' attention; 0: no step has any.
  virtual std::int64_t heads() const { return 0; }
  virtual std::int64_t head_width() const { return 0; }  // C/H

  /// Attention weights of sequences first ... first + count - 1, step by step, without gradients; a
  /// step without attention is left out. Layers that skip tokens execute all of them.
  virtual void attention(std::int64_t /*first*/, std::int64_t /*count*/,
                         const AttentionSink& /*sink*/) const {}

  /// Hands out the weights of each step, without gradients, one step after the other.
  virtual void step_weights(const WeightSink& /*sink*/) const {}
  /// Steps of the part of the depth that discretises one field of depth-time; 0 if there is none.
  virtual std::int64_t continuous_steps() const { return 0; }

  /// That part, with a copy in float64 of the weights of now; null if there is none.
  virtual std::unique_ptr<ContinuousDepth> continuous() const { return nullptr; }

  /// The same job with a copy in float64 of the weights of now, for which this must live on; null
  /// if it has none to copy.
  virtual std::unique_ptr<ProbeSubject> widened() const { return nullptr; }

  /// The state-space layers with the weights of now, without gradients.
  virtual StateSpaceLayers state_space() const { return {}; }

  /// Their states after each token, by one pass as in training, without gradients.
  /// @return L tensors (E, count, T, N); none without such layers.
  virtual std::vector<at::Tensor> state_space_states(std::int64_t /*first*/,
                                                     std::int64_t /*count*/) const {
    return {};
  }
};

}  // namespace depthgrid
