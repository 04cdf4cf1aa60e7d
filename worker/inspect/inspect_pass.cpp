#include "worker/inspect/inspect_pass.hpp"

#include <ATen/TensorOperators.h>

#include "models/ops/cell_cross_entropy.hpp"

namespace depthgrid {

CheckReport pass_report(const CheckSubject& subject, const CheckCase& c, const CheckExecution& e,
                        const at::Tensor& tokens, const at::Tensor& logits) {
  CheckReport out;
  out.add("cell", subject.alias())
      .add("dtype", std::string(name_of(c.dtype)))
      .add("mode", std::string(e.training ? kTrainingMode : name_of(e.execution->mode)));
  const bool decides = !e.training && e.execution->decider.has_value();
  if (decides) {
    out.add("decider", std::string(name_of(*e.execution->decider)));
  } else {
    out.add_null("decider");
  }
  out.add("causal", e.causal).add("rows", tokens.size(1)).add("length", tokens.size(2));
  const std::int64_t last = tokens.size(2) - 1;
  if (last > 0) {
    const at::Tensor losses = token_losses(logits.narrow(2, 0, last), tokens.narrow(2, 1, last));
    out.add("loss", losses.to(at::kDouble).mean().item<double>());
  } else {
    out.add_null("loss");
  }
  if (e.execution && e.execution->thresholds.defined()) {
    out.add("thresholds", e.execution->thresholds[0]);
  }
  return out;
}

}  // namespace depthgrid
