#include "worker/audit/audit_model.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>

#include "models/cell_language_model.hpp"
#include "worker/audit/audit_twin.hpp"

namespace depthgrid {

AuditModel::AuditModel(const AuditSubject& subject, ModelOptions o,
                       std::vector<std::uint64_t> seeds)
    : seeds_(std::move(seeds)),
      arena_(layout_of(subject, o), seeds_, at::kFloat),
      model_(arena_, without_dense_start(std::move(o)), subject.family),
      language_(subject.language ? subject.language(model_, seeds_)
                                 : std::make_unique<CellLanguageModel>(model_, seeds_)) {}

at::Tensor AuditModel::logits(const at::Tensor& tokens, ForwardContext context) const {
  const at::NoGradGuard no_grad;
  context.seeds = &seeds_;
  context.step = 1;
  return model_.logits(tokens, context);
}

std::vector<AuditedMode> audited_modes(const Family& family) {
  const DeclaredMode training = family.training_mode();
  const std::vector<DeclaredMode> modes = family.modes();
  std::vector<AuditedMode> out = {{.name = "training",
                                   .context = {.training = true},
                                   .causal = training.causal,
                                   .reason = std::string(training.reason)},
                                  {.name = "evaluation", .context = {}}};
  if (modes.size() == 1) {
    out.back().causal = modes.front().causal;
    out.back().reason = modes.front().reason;
    return out;
  }
  for (const DeclaredMode& m : modes) {
    ForwardContext context;
    context.execution = Execution{.mode = m.mode, .decider = m.decider};
    out.push_back({std::string(m.name), context, m.causal, std::string(m.reason)});
  }
  return out;
}

ParameterLayout layout_of(const AuditSubject& subject, const ModelOptions& o) {
  ParameterLayout layout;
  Model(layout, o, subject.family);
  return layout;
}

at::Tensor audit_tokens(std::int64_t below, std::vector<std::int64_t> sizes, std::uint64_t key) {
  return at::randint(0, below, sizes, at::make_generator<at::CPUGeneratorImpl>(key), at::kLong);
}

at::Tensor executed_masks(const RoutingRecord& record, const at::Tensor& tokens,
                          std::int64_t layers) {
  std::vector<std::int64_t> sizes = tokens.sizes().vec();
  sizes.push_back(layers);
  const at::Tensor masks = at::ones(sizes, at::kBool);
  for (const LayerRouting& layer : record.layers) {
    masks.select(3, layer.layer).copy_(layer.executed);
  }
  return masks;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return at::equal(a.contiguous().view(at::kInt), b.contiguous().view(at::kInt));
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0) return 0;
  const at::Tensor d = (a.detach() - b.detach()).abs();
  const at::Tensor both = a.detach().isnan().logical_and(b.detach().isnan());
  return d.masked_fill(both, 0).max().item<double>();
}

}  // namespace depthgrid
