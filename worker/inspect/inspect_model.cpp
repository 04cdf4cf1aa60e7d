#include "worker/inspect/inspect_model.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "core/base/error.hpp"
#include "core/config/yaml/diagnostics.hpp"
#include "core/train/train_options.hpp"
#include "worker/audit/audit_model.hpp"
#include "worker/model/fused_model.hpp"

namespace depthgrid {
namespace {

/// Replaces values of the model's parameters by those of a case.
void put(const std::map<std::string, at::Tensor>& parameters, Arena& arena) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, value] : parameters) {
    const auto& slots = arena.layout().slots();
    const auto at = std::ranges::find(slots, name, [](const auto& s) { return s.spec.name; });
    if (at == slots.end()) {
      std::vector<std::string> names;
      for (const ParameterSlot& slot : slots) names.push_back(slot.spec.name);
      const std::string near = nearest(name, names);
      throw UserError(ExitCode::BadData,
                      fmt::format("check: parameters: there is no '{}'{}", name,
                                  near.empty() ? "" : " (did you mean '" + near + "'?)"));
    }
    const at::Tensor to = slot_view(arena.values(), *at)[0];
    if (value.dim() != 0 && value.sizes() != to.sizes()) {
      throw UserError(ExitCode::BadData,
                      fmt::format("check: parameters: '{}' has the sizes [{}]: give a number or "
                                  "lists of these sizes",
                                  name, fmt::join(at->spec.shape, ", ")));
    }
    to.copy_(value.expand_as(to));
  }
  arena.refresh_shadow();
}

}  // namespace

CheckModel::CheckModel(const ModelOptions& options, std::uint64_t seed, CheckDtype dtype,
                       const at::Tensor& values)
    : seeds({seed}),
      arena(layout_of(options), seeds, dtype == CheckDtype::F64 ? at::kDouble : at::kFloat,
            dtype == CheckDtype::Bf16),
      model(arena, options) {
  if (!values.defined()) return;
  const at::NoGradGuard no_grad;
  arena.values().copy_(values);
  arena.refresh_shadow();
}

CheckSubject::CheckSubject(CheckCell cell) : cell_(std::move(cell)) {
  use_threads(cell_.config);
  options_ = model_options({&cell_.config});
}

CheckSubject::CheckSubject(const CellChoice& choice)
    : stored_(std::make_unique<StoredModel>(choice)) {
  cell_ = {stored_->cell.alias, stored_->config};
  options_ = stored_->options;
}

std::uint64_t CheckSubject::seed(const CheckCase& c) const {
  return c.seed && !stored_ ? *c.seed : train_options({&cell_.config}).model_seed.front();
}

const CheckModel& CheckSubject::model(const CheckCase& c) {
  auto& held = models_[{c.dtype, seed(c)}];
  if (!held) {
    at::Tensor values = stored_ ? stored_->arena->values() : at::Tensor();
    if (!stored_ && c.dtype == CheckDtype::F64) {  // widened, so that both have the same weights
      values = CheckModel(options_, seed(c), CheckDtype::F32).arena.values();
    }
    held = std::make_unique<CheckModel>(options_, seed(c), c.dtype, values);
  }
  if (c.parameters.empty()) return *held;
  changed_ = std::make_unique<CheckModel>(options_, seed(c), c.dtype, held->arena.values());
  put(c.parameters, changed_->arena);
  return *changed_;
}

at::Tensor CheckSubject::tokens(const CheckCase& c) const {
  const ModelOptions& o = options_;
  const std::int64_t length = c.tokens.defined()
                                  ? c.tokens.size(2)
                                  : c.length.value_or(cell_.config.integer("data.seq_len"));
  if (o.positions == Positions::Learned && length > o.max_tokens) {
    throw UserError(ExitCode::BadData,
                    fmt::format("check: {} tokens are more than the {} learned positions "
                                "(model.max_seq_len)",
                                length, o.max_tokens));
  }
  if (!c.tokens.defined()) {
    return audit_tokens(o.vocabulary, {1, c.rows, length}, c.seed.value_or(0));
  }
  const std::int64_t most = c.tokens.max().item<std::int64_t>();
  if (most >= o.vocabulary) {
    throw UserError(ExitCode::BadData,
                    fmt::format("check: tokens: {} is outside the vocabulary, 0 to {}", most,
                                o.vocabulary - 1));
  }
  return c.tokens;
}

}  // namespace depthgrid
