#include "models/routing/calibration.hpp"

#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sort.h>

#include "models/routing/routing_record.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {

at::Tensor calibrated_thresholds(const Model& model, const std::vector<at::Tensor>& texts,
                                 Execution execution, std::optional<double> share) {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model.options();
  const auto layers = static_cast<std::int64_t>(o.routing.layers.size());
  const bool student = execution.mode == ExecutionMode::Student;
  if (student) execution.decider = Decider::Calibrated;
  execution.thresholds = at::full({o.cells, layers}, -std::numeric_limits<double>::infinity(),
                                  at::TensorOptions(at::kDouble).device(o.device));
  for (std::int64_t i = 0; i < layers; ++i) {
    std::vector<at::Tensor> seen;
    for (const at::Tensor& text : texts) {
      RoutingRecord record;
      model.states(text.to(o.device).unsqueeze(0).expand({o.cells, text.size(0), text.size(1)}),
                   {.execution = execution, .routing = &record});
      const LayerRouting& layer = record.layers.at(static_cast<std::size_t>(i));
      // The token at the threshold and its ties are skipped, however their logits round later.
      const at::Tensor edge = student ? layer.logits + tie_width(layer.logits) : layer.score;
      seen.push_back(edge.flatten(1).to(at::kDouble));
    }
    const at::Tensor sorted =
        std::get<0>(at::sort(at::cat(seen, 1), /*stable=*/true, 1, /*descending=*/true));
    const std::int64_t tokens = sorted.size(1);
    for (std::int64_t e = 0; e < o.cells; ++e) {
      const double gamma = share.value_or(o.routing.capacity[static_cast<std::size_t>(e)]);
      const std::int64_t k = capacity_of(gamma, tokens);
      if (k == tokens) continue;  // everything: the threshold stays at minus infinity
      execution.thresholds.select(0, e).select(0, i).copy_(sorted.select(0, e).select(0, k));
    }
  }
  return execution.thresholds;
}

}  // namespace depthgrid
