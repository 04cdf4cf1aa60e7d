#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "core/cells/cell_set.hpp"
#include "core/train/evaluation.hpp"
#include "models/cell_language_model.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_modes.hpp"
#include "worker/audit/audited_pass.hpp"

namespace depthgrid {
namespace {

constexpr double kSumTolerance = 1e-5;       // of a loss in float32, relative
constexpr double kTokenTolerance = 1e-4;     // of one token's loss, relative to the largest
constexpr double kWideSumTolerance = 1e-10;  // both in float64
constexpr std::int64_t kScoredRows = 17;
constexpr std::int64_t kScoredSteps = 4;  // training steps on the twin
constexpr double kShareOfScores = 0.08;   // of the audit's operations at size
constexpr std::int64_t kBatchOfWindows = 2;

/// Negative log-likelihoods, written apart from the program's: log-sum-exp minus the target's
/// logit, in float64. @param logits  (E, B, T, V). @return (E, B, T)
at::Tensor surprises(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor x = logits.detach().to(at::kDouble);
  const at::Tensor most = x.amax(-1, true);
  const at::Tensor sum = (x - most).exp().sum(-1).log() + most.squeeze(-1);
  return sum - x.gather(-1, targets.unsqueeze(-1)).squeeze(-1);
}

/// The largest difference between a figure of the program and the independent one.
struct Disagreement {
  double worst = 0;  // in units of the tolerance
  double value = 0;
  std::string where;

  void note(double difference, double tolerance, const std::string& what) {
    const double size = difference / tolerance;
    if (!(size > worst) && !std::isnan(size)) return;
    worst = std::isnan(size) ? HUGE_VAL : size;
    value = difference;
    where = what;
  }
};

/// Largest |a - b| relative to the largest of b, or to 1.
double relative(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.detach().to(at::kDouble), y = b.detach().to(at::kDouble);
  const double scale = std::max(1.0, y.abs().max().item<double>());
  return largest_difference(x, y) / scale;
}

/// A loss term by the record of its pass; undefined for terms of other names. @return (E)
at::Tensor term_of_record(std::string_view name, const RoutingRecord& record) {
  at::Tensor sum;
  for (const LayerRouting& layer : record.layers) {
    at::Tensor here;
    if (name == "tpn" && layer.predicted.defined()) {
      here = (layer.predicted - layer.residual).to(at::kDouble).square().mean(-1).sum({1, 2});
    } else if ((name == "causal" || name == "predictor") && layer.target.defined()) {
      const at::Tensor r = layer.logits.to(at::kDouble);
      here = (r.clamp_min(0) + (r.abs().neg().exp() + 1).log() - r * layer.target.to(at::kDouble))
                 .sum({1, 2});
    }
    if (here.defined()) sum = sum.defined() ? sum + here : here;
  }
  return sum.defined() ? sum / static_cast<double>(record.layers.size()) : sum;
}

/// Per-token scores against logits of recorded passes.
/// @param every  of every mode that the model can score in; else of the default one.
void compare_tokens(Disagreement& to, AuditModel& model, const Batch& batch, double each,
                    bool every) {
  const std::int64_t tokens = batch.windows.size(2) - 1;
  const at::Tensor inputs = batch.windows.narrow(2, 0, tokens),
                   targets = batch.windows.narrow(2, 1, tokens);
  auto* const cells = dynamic_cast<CellLanguageModel*>(&model.language());
  for (AuditedMode& mode : audited_modes(model.model().family())) {
    const bool other = every && cells != nullptr && mode.context.execution;
    if (mode.name != "evaluation" && !other) continue;
    steer(model, mode, tokens, kScoredRows);
    ForwardContext plain = mode.context;
    plain.control = batch.control;
    if (cells != nullptr) cells->execution = mode.context.execution;
    const at::Tensor logits = audited_pass(model, inputs, plain).logits;
    const LanguageModel::Scores scores = model.language().score(batch);
    if (cells != nullptr) cells->execution.reset();
    to.note(relative(scores.loss, surprises(logits, targets)), each,
            "a token's score, mode " + mode.name + ",");
    const at::Tensor right = logits.argmax(-1).eq(targets);
    to.note(right.ne(scores.correct).any().item<bool>() ? 1 : 0, 0.5,
            "whether a token is predicted");
  }
}

/// Loss, its terms and per-token scores of the same windows against the logits of the same passes.
/// @param steps  training steps, each with another number.
void compare_scores(Disagreement& to, AuditModel& model, std::int64_t rows, std::int64_t tokens,
                    double sums, double each, std::int64_t steps) {
  const ModelOptions& o = model.options();
  const at::Tensor windows = audit_tokens(o.vocabulary, {o.cells, rows, tokens + 1}, 81);
  const at::Tensor inputs = windows.narrow(2, 0, tokens), targets = windows.narrow(2, 1, tokens);
  Control control = audit_control(o, inputs, 81);
  if (control.u.defined()) control.u = control.u.to(model.arena().values().scalar_type());
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t step = audited_step(static_cast<std::size_t>(i));
    // The trainer's pass is not recorded: this one is, and must give the same.
    const AuditedPass pass =
        audited_pass(model, inputs, {.training = true, .step = step, .control = control});
    const at::Tensor expected = surprises(pass.logits, targets).sum({1, 2});
    const Objective::Losses losses =
        model.language().losses({.windows = windows, .step = step, .control = control});
    to.note(relative(losses.loss, expected), sums, fmt::format("training loss of step {}", step));
    at::Tensor total = expected;
    const std::vector<LossTerm> terms = model.model().loss_terms();
    for (std::size_t k = 0; k < losses.parts.size(); ++k) {
      const at::Tensor part = losses.parts[k].detach().to(at::kDouble);
      const at::Tensor known = term_of_record(terms[k].name, pass.record);
      if (known.defined()) {
        to.note(relative(part, known), 10 * sums, "loss term " + std::string(terms[k].name));
      }
      total = total + at::tensor(terms[k].weight, at::kDouble) * part;
    }
    to.note(relative(losses.total, total), sums, "the total of loss terms");
  }
  compare_tokens(to, model, {.windows = windows, .control = control}, each, steps > 1);
}

/// The figures of an evaluation against sums over windows by hand.
void compare_evaluation(Disagreement& to, AuditModel& model, std::int64_t tokens,
                        std::optional<std::int64_t> stride) {
  const ModelOptions& o = model.options();
  if (o.control.bias) return;  // an evaluation has no signal, these logits would
  const std::int64_t length = 3 * tokens + std::max<std::int64_t>(2, tokens / 2);
  const at::Tensor text = audit_tokens(o.vocabulary, {length}, 91);
  const std::vector<std::uint32_t> ids(text.const_data_ptr<std::int64_t>(),
                                       text.const_data_ptr<std::int64_t>() + length);
  const TokenStream stream = TokenStream::from_ids(ids, o.vocabulary, length);
  const EvalWindows windows = all_windows(length, tokens, stride);
  const std::vector<EvalResult> results =
      evaluate(model.language(), o.cells, stream, windows, kBatchOfWindows);
  std::vector<std::int64_t> counted(static_cast<std::size_t>(length), 0);
  std::vector<double> sum(static_cast<std::size_t>(o.cells), 0), correct = sum;
  at::Tensor by_place = at::zeros({o.cells, tokens}, at::kDouble), places = by_place.clone();
  for (std::size_t w = 0; w < windows.starts.size(); ++w) {
    const std::int64_t from = windows.starts[w], size = windows.lengths[w];
    const at::Tensor inputs = text.narrow(0, from, size).expand({o.cells, 1, size});
    const at::Tensor targets = text.narrow(0, from + 1, size).expand({o.cells, 1, size});
    const at::Tensor logits = model.logits(inputs, {.first_row = static_cast<std::int64_t>(w)});
    const at::Tensor nats = surprises(logits, targets);
    const at::Tensor right = logits.argmax(-1).eq(targets).to(at::kDouble);
    const std::int64_t first = windows.first_counted[w];
    by_place.narrow(1, first, size - first).add_(nats.select(1, 0).narrow(1, first, size - first));
    places.narrow(1, first, size - first).add_(1);
    for (std::int64_t t = first; t < size; ++t) ++counted[static_cast<std::size_t>(from + 1 + t)];
    for (std::size_t e = 0; e < sum.size(); ++e) {
      const auto cell = static_cast<std::int64_t>(e);
      sum[e] += nats[cell][0].narrow(0, first, size - first).sum().item<double>();
      correct[e] += right[cell][0].narrow(0, first, size - first).sum().item<double>();
    }
  }
  const bool once = std::ranges::all_of(counted.begin() + 1, counted.end(),
                                        [](std::int64_t n) { return n == 1; });
  to.note(once ? 0 : 1, 0.5, "every token is evaluated once");
  const auto all = static_cast<double>(length - 1);
  for (std::size_t e = 0; e < results.size(); ++e) {
    const EvalResult& r = results[e];
    const double loss = sum[e] / all;
    to.note(std::abs(r.loss - loss) / std::max(1.0, loss), kTokenTolerance, "evaluation loss");
    to.note(std::abs(r.perplexity / std::exp(loss) - 1), 10 * kTokenTolerance, "perplexity");
    to.note(std::abs(r.accuracy - correct[e] / all), kSumTolerance, "accuracy");
    to.note(std::abs(static_cast<double>(r.tokens) - all), 0.5, "tokens of an evaluation");
    const at::Tensor mean = by_place[static_cast<std::int64_t>(e)] / places[0];
    to.note(relative(at::tensor(r.by_position, at::kDouble), mean), kTokenTolerance,
            "loss by position");
  }
  to.note(results.size() == sum.size() ? 0 : 1, 0.5, "cells of an evaluation");
}

}  // namespace

AuditResult check_scores(AuditModels& models) {
  Disagreement worst;
  const std::int64_t tokens = std::min(models.tokens(), kDeepTwin.tokens);
  AuditModel wide = models.twin(kDeepTwin, models.cells(), {Arithmetic::Float64, true});
  compare_scores(worst, wide, kScoredRows, tokens, kWideSumTolerance, kWideSumTolerance,
                 kScoredSteps);
  AuditModel twin = models.twin(kDeepTwin, models.cells());
  for (const std::optional<std::int64_t>& stride :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>((tokens + 1) / 2)}) {
    compare_evaluation(worst, twin, tokens, stride);
  }
  AuditModel* several = models.several();
  if (several != nullptr) {
    const std::int64_t rows = std::clamp<std::int64_t>(
        models.affordable(kShareOfScores) / (6 * several->options().cells), 1, kScoredRows);
    compare_scores(worst, *several, rows, models.tokens(), kSumTolerance, kTokenTolerance, 1);
  }
  if (!(worst.worst <= 1)) {
    return judged(false, worst.value, worst.value / worst.worst,
                  worst.where + " is not what the logits of the same pass give");
  }
  return judged(true, worst.value, kSumTolerance,
                several == nullptr
                    ? "losses, scores and evaluations against sums over the logits, of the twin"
                    : "losses, scores and evaluations against sums over the logits");
}

}  // namespace depthgrid
