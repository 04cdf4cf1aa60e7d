#include "worker/audit/audit_model.hpp"

#include <algorithm>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "models/cell_language_model.hpp"
#include "worker/audit/audit_twin.hpp"

namespace depthgrid {
namespace {

constexpr double kAway = 0.02;  // of start values
constexpr std::uint64_t kAwayKey = 7;
constexpr double kControlScale = 0.1;  // of a signal's maps

/// Of each cell as if it were alone.
void move_away(Arena& arena, const std::vector<std::uint64_t>& seeds) {
  const at::NoGradGuard no_grad;
  for (std::size_t e = 0; e < seeds.size(); ++e) {
    at::Generator random = at::make_generator<at::CPUGeneratorImpl>(kAwayKey + seeds[e]);
    const at::Tensor noise = at::randn({arena.size()}, random) * kAway;
    const at::Tensor cell = arena.values()[static_cast<std::int64_t>(e)];
    for (const ParameterSlot& slot : arena.layout().slots()) {
      if (slot.spec.average) continue;
      cell.narrow(0, slot.offset, slot.count).add_(noise.narrow(0, slot.offset, slot.count));
    }
  }
  if (arena.shadow().defined()) arena.refresh_shadow();
}

/// Gives values to the maps of a control signal that begin at zero: at zero, whatever the signal
/// does wrong would go unseen.
void draw_controls(Arena& arena, const std::vector<std::uint64_t>& seeds) {
  const at::NoGradGuard no_grad;
  bool drawn = false;
  for (const ParameterSlot& slot : arena.layout().slots()) {
    if (slot.spec.group != ParameterGroup::Control) continue;
    if (slot.spec.init.draw != Init::Draw::None) continue;
    for (std::size_t e = 0; e < seeds.size(); ++e) {
      at::Generator random =
          at::make_generator<at::CPUGeneratorImpl>(seeds[e] + init_stream(slot.spec.name));
      const at::Tensor cell = arena.values()[static_cast<std::int64_t>(e)];
      cell.narrow(0, slot.offset, slot.count).add_(at::randn({slot.count}, random) * kControlScale);
    }
    drawn = true;
  }
  if (drawn && arena.shadow().defined()) arena.refresh_shadow();
}

}  // namespace

AuditModel::AuditModel(const AuditSubject& subject, ModelOptions o,
                       std::vector<std::uint64_t> seeds, AuditedAs as)
    : seeds_(std::move(seeds)),
      dtype_(as.arithmetic == Arithmetic::Float64 ? at::kDouble : at::kFloat),
      arena_(layout_of(subject, o), seeds_, dtype_, as.arithmetic == Arithmetic::Mixed),
      model_(arena_,
             as.dense_start ? in_dense_start(std::move(o)) : without_dense_start(std::move(o)),
             subject.family),
      language_(subject.language ? subject.language(model_, seeds_)
                                 : std::make_unique<CellLanguageModel>(model_, seeds_)) {
  if (as.moved) move_away(arena_, seeds_);
  draw_controls(arena_, seeds_);
}

at::Tensor AuditModel::logits(const at::Tensor& tokens, ForwardContext context) const {
  const at::NoGradGuard no_grad;
  return recorded_logits(tokens, std::move(context));
}

at::Tensor AuditModel::recorded_logits(const at::Tensor& tokens, ForwardContext context) const {
  context.seeds = &seeds_;
  context.step = std::max<std::int64_t>(1, context.step);
  at::Tensor& u = context.control.u;
  if (u.defined()) u = u.to(dtype_);
  return model_.logits(tokens, context);
}

ParameterLayout layout_of(const AuditSubject& subject, const ModelOptions& o) {
  ParameterLayout layout;
  Model(layout, o, subject.family);
  return layout;
}

at::Tensor audit_tokens(std::int64_t below, std::vector<std::int64_t> sizes, std::uint64_t key) {
  return at::randint(0, below, sizes, at::make_generator<at::CPUGeneratorImpl>(key), at::kLong);
}

Control audit_control(const ModelOptions& o, const at::Tensor& tokens, std::uint64_t key) {
  if (o.control.axes == 0) return {};
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(key);
  const std::int64_t each = o.control.as_prefix ? 1 : tokens.size(2);
  return {at::randn({tokens.size(0), tokens.size(1), each, o.control.axes}, random)};
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType bits = a.scalar_type() == at::kDouble ? at::kLong : at::kInt;
  return at::equal(a.contiguous().view(bits), b.contiguous().view(bits));
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0) return 0;
  const at::Tensor d = (a.detach() - b.detach()).abs();
  const at::Tensor both = a.detach().isnan().logical_and(b.detach().isnan());
  return d.masked_fill(both, 0).max().item<double>();
}

}  // namespace depthgrid
