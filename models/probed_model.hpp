#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/probe/probe_subject.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/model.hpp"
#include "models/wide_model.hpp"

namespace depthgrid {

/// Depth-times of the states before, between and after the steps: layer l of L ends at l/L; a flow
/// divides the depth of the layers that it replaces evenly among its steps. The same for all cells.
/// @return L + 1 numbers.
std::vector<double> depth_edges(const ModelOptions& o);

/// A Model as probes see it.
class ProbedModel final : public ProbeSubject {
 public:
  /// @param model  must outlive this. @param set  is moved to the model's device.
  /// @param arena  the model's parameters; null: there is neither continuous() nor widened().
  ProbedModel(const Model& model, ProbeSet set, const Arena* arena = nullptr);

  std::int64_t cells() const override { return model_.options().cells; }
  std::int64_t depth() const override { return model_.options().depth_steps(); }
  at::Tensor edge_times() const override;
  const ProbeSet& set() const override { return set_; }
  std::vector<at::Tensor> states(std::int64_t first, std::int64_t count) const override;
  at::Tensor start(std::int64_t first, std::int64_t count) const override;
  std::unique_ptr<DepthTrack> track(TrackPath path) const override;
  std::vector<at::Tensor> state_gradients(std::int64_t first, std::int64_t count) const override;
  GradientModeErrors gradient_mode_errors(std::int64_t first, std::int64_t count) const override;
  RegularisedNorms regularised_norms(std::int64_t first, std::int64_t count,
                                     bool all) const override;
  bool has_spectral_norm() const override {
    return model_.options().regularisers.has(Regulariser::SpectralNorm);
  }
  bool has_log_norm() const override {
    return model_.options().regularisers.has(Regulariser::LogNorm);
  }
  bool has_field() const override;
  bool has_signal() const override {
    return model_.options().control.axes > 0 && !model_.options().control.as_prefix;
  }
  bool has_adjoint() const override;
  bool has_reversible() const override;
  at::Tensor final_norm(const at::Tensor& x) const override;
  at::Tensor logits(const at::Tensor& x) const override;
  at::Tensor gate_times() const override;
  std::vector<GateValues> gates(const at::Tensor& tau) const override;
  GateRange gate_range() const override;
  std::vector<DepthFactor> depth_factors() const override;
  std::int64_t heads() const override;
  std::int64_t head_width() const override {
    return model_.options().width / model_.options().heads;
  }
  void attention(std::int64_t first, std::int64_t count, const AttentionSink& sink) const override;
  void step_weights(const WeightSink& sink) const override;
  std::int64_t continuous_steps() const override;
  std::unique_ptr<ContinuousDepth> continuous() const override;
  std::unique_ptr<ProbeSubject> widened() const override;
  StateSpaceLayers state_space() const override;
  std::vector<at::Tensor> state_space_states(std::int64_t first, std::int64_t count) const override;

 private:
  ProbedModel(std::unique_ptr<const WideModel> own, ProbeSet set);

  at::Tensor inputs(std::int64_t first, std::int64_t count) const;
  at::Tensor targets(std::int64_t first, std::int64_t count) const;

  std::unique_ptr<const WideModel> own_;  // holds what the next two refer to, if not null
  const Model& model_;
  const Arena* arena_;
  ProbeSet set_;
  at::Tensor inputs_;  // (n, T) on the device
};

}  // namespace depthgrid
