#include "models/control_objective.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "core/cells/queued_tensor.hpp"

namespace depthgrid {
namespace {

bool weighted(const std::vector<double>& weights) {
  return std::ranges::any_of(weights, [](double weight) { return weight != 0; });
}

/// -log of the probability of a label, 1 or 0, whose log-odds are z.
at::Tensor label_loss(const at::Tensor& z, const at::Tensor& label) {
  return at::softplus(z) - label * z;
}

/// (..., n) float: 1 at the index, 0 elsewhere.
at::Tensor one_hot(const at::Tensor& index, std::int64_t n) {
  return index.unsqueeze(-1).eq(at::arange(n, index.options())).to(at::kFloat);
}

at::Tensor at_least_float(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat);
}

/// Sum over the last dimension, in two stages: a sum of one number over many is split among
/// threads, so that its order would depend on them and on the number of cells.
at::Tensor staged_sum(const at::Tensor& x) {
  constexpr std::int64_t kStage = 256;
  const std::int64_t size = x.size(-1), missing = (kStage - size % kStage) % kStage;
  at::Tensor padded = missing == 0 ? x : at::constant_pad_nd(x, {0, missing});
  return padded.unflatten(-1, {-1, kStage}).sum(-1).sum(-1);
}

/// u of `value` on the axis of each row and 0 elsewhere: (E, R, 1, c).
at::Tensor on_axis(const Contrast& contrast, const at::Tensor& value, std::int64_t axes) {
  return (one_hot(contrast.axis, axes) * value.unsqueeze(-1)).unsqueeze(2);
}

}  // namespace

ControlObjective::ControlObjective(Objective& language, const Model& model,
                                   std::vector<std::uint64_t> seeds, ControlTerms terms)
    : language_(language), model_(model), seeds_(std::move(seeds)), of_(std::move(terms)) {
  if (weighted(of_.contrastive) && !model.contrast().scale.defined()) {
    throw Error("a model without Model::contrast() distinguishes no sentences");
  }
  if (weighted(of_.attribute) && !of_.words.defined()) throw Error("no classifier of words");
  if (weighted(of_.anchor) && of_.reference == nullptr) throw Error("no model to stay near to");
}

std::vector<ControlObjective::Term> ControlObjective::terms() const {
  const Term all[] = {{"contrastive", &of_.contrastive, &ControlObjective::contrastive},
                      {"attribute", &of_.attribute, &ControlObjective::attribute},
                      {"anchor", &of_.anchor, &ControlObjective::anchor}};
  std::vector<Term> out;
  for (const Term& term : all) {
    if (weighted(*term.weight)) out.push_back(term);
  }
  return out;
}

std::vector<std::string_view> ControlObjective::loss_parts() const {
  std::vector<std::string_view> names = language_.loss_parts();
  for (const Term& term : terms()) names.push_back(term.name);
  return names;
}

Objective::Losses ControlObjective::losses(const Batch& batch) {
  Losses out = language_.losses(batch);
  for (const Term& term : terms()) {
    if (!batch.contrast.axis.defined()) {  // none of the rows of this rank or micro-batch
      out.parts.push_back(at::zeros_like(out.loss.detach()));
      continue;
    }
    out.parts.push_back((this->*term.loss)(batch)*of_.rows_in_batch);
    const at::Tensor weight = queued_tensor(*term.weight, out.total.options().requires_grad(false));
    out.total = out.total + weight * out.parts.back().to(out.total.scalar_type());
  }
  return out;
}

at::Tensor ControlObjective::logits(const Model& model, const Batch& batch,
                                    const at::Tensor& u) const {
  const ModelOptions& o = model.options();
  const std::int64_t rows = batch.contrast.axis.size(1), tokens = batch.windows.size(2) - 1;
  const at::Tensor inputs =
      batch.windows.to(o.device).expand({o.cells, -1, -1}).narrow(1, 0, rows).narrow(2, 0, tokens);
  // In training, with the draws of these rows: the same for every pass, and for the reference.
  const ForwardContext context{.training = true,
                               .step = batch.step,
                               .first_row = batch.first_row,
                               .seeds = &seeds_,
                               .control = {u}};
  return at_least_float(model.logits(inputs, context));
}

at::Tensor ControlObjective::contrastive(const Batch& batch) const {
  const Contrast& of = batch.contrast;
  const std::int64_t rows = of.axis.size(1), tokens = batch.windows.size(2) - 1;
  const at::Tensor targets = batch.windows.to(of.axis.device())
                                 .expand({model_.options().cells, -1, -1})
                                 .narrow(1, 0, rows)
                                 .narrow(2, 1, tokens)
                                 .unsqueeze(-1);
  const auto log_p = [&](double sign) {
    const at::Tensor value = at::zeros_like(of.wanted).fill_(sign);
    const at::Tensor z = logits(model_, batch, on_axis(of, value, model_.options().control.axes));
    return at::log_softmax(z, -1).gather(-1, targets).squeeze(-1);  // (E, R, T)
  };
  const at::Tensor gain = log_p(1) - log_p(-1);
  // No sums with indices, which have no fixed order on a GPU, nor products, which have another for
  // one cell than for several.
  const at::Tensor within = one_hot(of.sentence, tokens).transpose(2, 3);  // (E, R, sentence, T)
  const at::Tensor length = within.sum(-1);
  const at::Tensor score = (within * gain.unsqueeze(2)).sum(-1) / length.clamp_min(1);
  const Model::ContrastParameters& learned = model_.contrast();
  const at::Tensor bias_of_axis = one_hot(of.axis, learned.bias.size(1)) *
                                  at_least_float(learned.bias).unsqueeze(1);  // (E, R, c)
  // Expanded by itself, so that its gradient is summed in two stages.
  const at::Tensor scale = (at_least_float(learned.scale).unsqueeze(-1) + 1).expand({-1, rows, 1});
  const at::Tensor odds = scale * score + bias_of_axis.sum(-1, /*keepdim=*/true);
  const at::Tensor counts = length * of.label.ge(0);
  return (counts * label_loss(odds, of.label)).sum(2).sum(1);
}

at::Tensor ControlObjective::attribute(const Batch& batch) const {
  const Contrast& of = batch.contrast;
  const std::int64_t tokens = batch.windows.size(2) - 1;
  const at::Tensor u = on_axis(of, of.wanted, model_.options().control.axes);
  const at::Tensor expected = logits(model_, batch, u).softmax(-1).mean(2);  // (E, R, V)
  const at::Tensor axis = of.axis.unsqueeze(-1).expand({-1, -1, expected.size(2)});
  const at::Tensor words = of_.words.to(expected.device()).gather(1, axis);
  const at::Tensor bias = of_.words_bias.to(expected.device()).gather(1, of.axis);
  const at::Tensor odds = staged_sum(expected * words) + bias;
  return label_loss(odds, (of.wanted + 1) / 2).sum(1) * static_cast<double>(tokens);
}

at::Tensor ControlObjective::anchor(const Batch& batch) const {
  const Contrast& of = batch.contrast;
  const at::Tensor neutral = on_axis(of, at::zeros_like(of.wanted), model_.options().control.axes);
  at::Tensor before;
  {
    const at::NoGradGuard no_grad;
    before = at::log_softmax(logits(*of_.reference, batch, neutral), -1);
  }
  const at::Tensor now = at::log_softmax(logits(model_, batch, neutral), -1);
  return staged_sum(before.exp() * (before - now)).sum(2).sum(1);
}

}  // namespace depthgrid
