#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>

#include "core/base/error.hpp"
#include "models/cell_language_model.hpp"
#include "worker/audit/audit_model.hpp"
#include "worker/audit/audit_twin.hpp"
#include "worker/inspect/gradient_report.hpp"
#include "worker/inspect/inspections.hpp"

namespace depthgrid {
namespace {

constexpr TwinSize kTwin = {.width = 32, .layers = 4, .tokens = 16, .vocabulary = 32};
constexpr double kMoved = 0.02;         // distance from initial values, some of which are zero
constexpr double kFloat32Limit = 1e-3;  // relative to a group's norm

/// The training loss per token: the language model's first, then the family's weighted terms.
LossUnderCheck training_loss(const CheckModel& m, CellLanguageModel& language,
                             const at::Tensor& windows) {
  LossUnderCheck out;
  out.names = {"language"};
  for (const std::string_view name : language.loss_parts()) out.names.push_back(name);
  out.terms = [&m, &language, windows] {
    const Objective::Losses losses = language.losses({windows, 1});
    const auto tokens = static_cast<double>(windows.size(1) * (windows.size(2) - 1));
    std::vector<at::Tensor> terms = {losses.loss / tokens};
    const std::vector<LossTerm> weights = m.model.loss_terms();
    for (std::size_t i = 0; i < losses.parts.size(); ++i) {  // observing terms come after them
      terms.push_back(losses.parts[i] * (weights[i].weight.front() / tokens));
    }
    return terms;
  };
  return out;
}

/// |g32 - g64| / |g64| over the tensors of a group.
double float32_error(Arena& narrow, Arena& wide, const std::string& group) {
  double off = 0, all = 0;
  for (const ParameterSlot& slot : wide.layout().slots()) {
    if (name_of(slot.spec.group) != group) continue;
    const at::Tensor g = slot_view(wide.gradients(), slot);
    off += (slot_view(narrow.gradients(), slot).to(at::kDouble) - g).square().sum().item<double>();
    all += g.square().sum().item<double>();
  }
  return all > 0 ? std::sqrt(off / all) : 0;
}

/// Parameters that no gradient reaches although the family has not declared them dead. Averages are
/// left out: they are updated from observed values, not by a gradient of the loss.
std::vector<std::string> silent(const GroupGradients& row, const CheckModel& m) {
  std::vector<std::string> out = row.unreached;
  for (const DeadParameter& dead : m.model.dead_parameters()) std::erase(out, dead.name);
  std::erase_if(out,
                [&](const std::string& name) { return m.arena.layout().find(name).spec.average; });
  return out;
}

}  // namespace

CheckReport inspect_gradients(CheckSubject& subject, const CheckCase& c) {
  if (subject.options().tdt.gate_grad_to_trunk) {
    throw UserError(ExitCode::Usage,
                    "check gradcheck: model.tdt.gate_grad_to_trunk: the moving average has no "
                    "gradient, but moves; differences cannot distinguish the two");
  }
  ModelOptions options = without_dense_start(twin_of(subject.options(), kTwin));
  if (c.tokens.defined()) options.max_tokens = std::max(options.max_tokens, c.tokens.size(2));
  const std::uint64_t seed = subject.seed(c);
  CheckModel narrow(options, seed, CheckDtype::F32);
  {
    const at::NoGradGuard no_grad;
    auto random = at::make_generator<at::CPUGeneratorImpl>(seed + 1);
    narrow.arena.values().add_(at::randn(narrow.arena.values().sizes(), random) * kMoved);
  }
  CheckModel wide(options, seed, CheckDtype::F64, narrow.arena.values());
  const std::int64_t length =
      std::min<std::int64_t>(c.length.value_or(kTwin.tokens), options.max_tokens);
  const at::Tensor windows = c.tokens.defined()
                                 ? c.tokens
                                 : audit_tokens(options.vocabulary, {1, c.rows, length + 1}, seed);
  if (windows.size(2) < 2 || windows.max().item<std::int64_t>() >= options.vocabulary) {
    throw UserError(
        ExitCode::BadData,
        fmt::format("check gradcheck: tokens: expected two or more per sequence, from 0 "
                    "to {}",
                    options.vocabulary - 1));
  }
  CellLanguageModel language(wide.model, wide.seeds);
  language.hold_execution({windows, 1});
  const bool directed = language.hold_directions({windows, 1}) != nullptr;
  const std::vector<GroupGradients> rows =
      gradient_report(wide.arena, training_loss(wide, language, windows), c.samples, seed);

  CellLanguageModel single(narrow.model, narrow.seeds);
  if (language.training_execution) {  // its own stop-gradients: no parameter changes here
    single.training_execution = language.training_execution;
    single.training_execution->held.reset();
  }
  narrow.arena.zero_gradients();
  at::Tensor total;
  for (const at::Tensor& term : training_loss(narrow, single, windows).terms()) {
    total = total.defined() ? total + term : term;
  }
  total.sum().backward();

  bool pass = true;
  std::vector<CheckReport> groups;
  for (const GroupGradients& row : rows) {
    const double rough = float32_error(narrow.arena, wide.arena, row.group);
    const std::vector<std::string> lost = silent(row, wide);
    const bool good = row.worst <= c.threshold && rough <= kFloat32Limit && lost.empty();
    pass = pass && good;
    CheckReport& out = groups.emplace_back();
    out.add("group", row.group)
        .add("pass", good)
        .add("terms", row.terms)
        .add("elements", row.elements)
        .add("worst", row.worst)
        .add("parameter", row.parameter)
        .add("index", row.index)
        .add("autograd", row.autograd)
        .add("numeric", row.numeric)
        .add("float32", rough)
        .add("unreached", row.unreached);
  }
  std::vector<std::string> held;
  if (!options.routing.layers.empty()) held = {"masks", "values behind stop-gradients"};
  if (directed) held.emplace_back("directions of regularisers");
  CheckReport out;
  out.add("cell", subject.alias())
      .add("family", options.family)
      .add("pass", pass)
      .add("threshold", c.threshold)
      .add("float32_threshold", kFloat32Limit)
      .add("held", std::move(held))
      .add("groups", std::move(groups));
  return out;
}

}  // namespace depthgrid
