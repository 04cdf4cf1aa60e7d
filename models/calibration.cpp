#include "models/calibration.hpp"

#include <limits>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sort.h>

#include "core/depth/depth_pieces.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {
namespace {

/// Takes texts through the depth, from one dynamic layer to the next.
class Calibration {
 public:
  Calibration(const Model& model, Execution execution, RoutingRecord* record)
      : model_(model), record_(record) {
    const ModelOptions& o = model.options();
    if (execution.mode == ExecutionMode::Student) execution.decider = Decider::Calibrated;
    execution.thresholds = at::full({o.cells, static_cast<std::int64_t>(o.routing.layers.size())},
                                    -std::numeric_limits<double>::infinity(),
                                    at::TensorOptions(at::kDouble).device(o.device));
    context_.execution = std::move(execution);
    segments_ = model.segments(context_);
  }

  const at::Tensor& thresholds() const { return context_.execution->thresholds; }

  /// @param x  states after step `from`. @return those after step `to`, with what is calibrated.
  at::Tensor advance(const at::Tensor& x, std::int64_t from, std::int64_t to) {
    context_.routing = record_;
    return depthgrid::advance(segments_, x, from, to, model_.control({}));
  }

  at::Tensor embed(const at::Tensor& text) const {
    const ModelOptions& o = model_.options();
    return model_.embed(
        text.to(o.device).unsqueeze(0).expand({o.cells, text.size(0), text.size(1)}));
  }

  /// What layer `step` would decide by. @param x  states before it. @return (E, tokens)
  at::Tensor edges(const at::Tensor& x, std::int64_t step) {
    RoutingRecord record;
    record.skips = true;
    context_.routing = &record;
    depthgrid::advance(segments_, x, step, step + 1, model_.control({}));
    const LayerRouting& layer = record.layers.front();
    // The token at the threshold and its ties are skipped, however their logits round later.
    const bool student = context_.execution->mode == ExecutionMode::Student;
    const at::Tensor edge = student ? layer.logits + tie_width(layer.logits) : layer.score;
    return edge.flatten(1).to(at::kDouble);
  }

  /// Sets the thresholds of a dynamic layer. @param edges  (E, tokens).
  void set(std::int64_t dynamic, const at::Tensor& edges, std::optional<double> share) {
    const ModelOptions& o = model_.options();
    const at::Tensor sorted = std::get<0>(at::sort(edges, /*stable=*/true, 1, /*descending=*/true));
    const std::int64_t tokens = sorted.size(1);
    for (std::int64_t e = 0; e < o.cells; ++e) {
      const double gamma = share.value_or(o.routing.capacity[static_cast<std::size_t>(e)]);
      const std::int64_t k = capacity_of(gamma, tokens);
      if (k == tokens) continue;  // everything: the threshold stays at minus infinity
      thresholds().select(0, e).select(0, dynamic).copy_(sorted.select(0, e).select(0, k));
    }
  }

 private:
  const Model& model_;
  RoutingRecord* record_;
  ForwardContext context_;
  std::vector<DepthSegment> segments_;
};

}  // namespace

at::Tensor calibrated_thresholds(const Model& model, const std::vector<at::Tensor>& texts,
                                 Execution execution, std::optional<double> share,
                                 double kept_bytes) {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model.options();
  Calibration calibration(model, std::move(execution), nullptr);
  double bytes = 0;
  for (const at::Tensor& text : texts) {
    bytes += 4.0 * static_cast<double>(text.numel() * o.cells * o.width);
  }
  const bool keep = bytes <= kept_bytes;
  std::vector<at::Tensor> kept(texts.size());  // states after step `at`
  std::int64_t at = 0;
  for (std::size_t i = 0; i < o.routing.layers.size(); ++i) {
    const std::int64_t step = o.routing.layers[i];
    std::vector<at::Tensor> seen;
    for (std::size_t n = 0; n < texts.size(); ++n) {
      const bool begins = !kept[n].defined();
      const at::Tensor x = calibration.advance(begins ? calibration.embed(texts[n]) : kept[n],
                                               begins ? 0 : at, step);
      seen.push_back(calibration.edges(x, step));
      if (keep) kept[n] = x;
    }
    calibration.set(static_cast<std::int64_t>(i), at::cat(seen, 1), share);
    at = step;
  }
  return calibration.thresholds();
}

CalibratedStudent calibrated_student(const Model& model, const at::Tensor& text) {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model.options();
  CalibratedStudent out;
  out.record.teach = true;
  Calibration calibration(model, Execution{.mode = ExecutionMode::Student}, &out.record);
  at::Tensor x = calibration.embed(text);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < o.routing.layers.size(); ++i) {
    const std::int64_t step = o.routing.layers[i];
    x = calibration.advance(x, at, step);
    calibration.set(static_cast<std::int64_t>(i), calibration.edges(x, step), {});
    at = step;
  }
  if (!o.routing.layers.empty()) calibration.advance(x, at, at + 1);
  out.thresholds = calibration.thresholds();
  return out;
}

}  // namespace depthgrid
