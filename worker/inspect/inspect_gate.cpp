#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include "core/base/error.hpp"
#include "models/ops/softplus.hpp"
#include "models/routing/surprise_gate.hpp"
#include "models/routing/top_k.hpp"
#include "worker/inspect/inspect_pass.hpp"
#include "worker/inspect/inspections.hpp"

namespace depthgrid {

CheckReport inspect_gate(const CheckCase& c) {
  if (!c.dx.defined() || !c.dx_hat.defined() || c.dx.sizes() != c.dx_hat.sizes()) {
    throw UserError(ExitCode::BadData,
                    "check gate: dx and dx_hat must both be there, of the same sizes");
  }
  const at::ScalarType type = c.dtype == CheckDtype::F64 ? at::kDouble : at::kFloat;
  if (c.dtype == CheckDtype::Bf16) {
    throw UserError(ExitCode::Usage, "check gate: dtype bf16: the gate has f32 and f64");
  }
  const auto scalar = [&](double value) {
    return at::full({1, 1}, value, type).requires_grad_(true);
  };
  const GateScalars p{scalar(c.o_ce), scalar(c.m_cu), scalar(c.beta_ce), scalar(c.beta_cu)};
  const GateSignals s = surprise_gate(c.dx.to(type), c.dx_hat.to(type), p,
                                      {.window = c.window, .exclusive = c.exclusive, .level = {}});
  s.gate.mean().backward();

  const auto shown = [&](const at::Tensor& x) { return c.rows_given ? x[0] : x[0][0]; };
  CheckReport out;
  out.add("dtype", std::string(name_of(c.dtype))).add("window", c.window);
  for (const auto& [name, signal] : named_signals(s)) out.add(name, shown(signal));
  out.add("score", shown(s.score));
  if (c.gamma) {
    const std::int64_t k = capacity_of(*c.gamma, s.gate.size(-1), c.min_k);
    out.add("k", k).add("mask", shown(top_k_mask(s.score, {k})));
  }
  CheckReport constants;
  constants.add("softplus_beta_ce", softplus(p.beta_ce.detach()).item<double>())
      .add("softplus_beta_cu", softplus(p.beta_cu.detach()).item<double>())
      .add("log_o_ce", (p.o_ce.detach() + 1e-10).log().item<double>());
  const CheckReport gradients =
      scalars_report({p.o_ce.grad(), p.m_cu.grad(), p.beta_ce.grad(), p.beta_cu.grad()});
  return std::move(out.add_object("constants", constants).add_object("gradients", gradients));
}

}  // namespace depthgrid
