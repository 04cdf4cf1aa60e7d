#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "core/cells/cell_set.hpp"
#include "core/train/evaluation.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_modes.hpp"

namespace depthgrid {
namespace {

constexpr double kSumTolerance = 1e-5;       // of a loss in float32, relative
constexpr double kTokenTolerance = 1e-4;     // of one token's loss, relative to the largest
constexpr double kWideSumTolerance = 1e-10;  // both in float64
constexpr std::int64_t kScoredRows = 5;
constexpr std::int64_t kScoredStep = 4001;
constexpr double kScoredFlops = 1e11;
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

/// Loss, its terms and per-token scores of the same windows against the logits of the same passes.
void compare_scores(Disagreement& to, AuditModel& model, std::int64_t rows, std::int64_t tokens,
                    double sums, double each) {
  const ModelOptions& o = model.options();
  const at::Tensor windows = audit_tokens(o.vocabulary, {o.cells, rows, tokens + 1}, 81);
  const at::Tensor inputs = windows.narrow(2, 0, tokens), targets = windows.narrow(2, 1, tokens);
  RoutingRecord record;
  ForwardContext context{
      .training = true, .step = kScoredStep, .control = audit_control(o, inputs, 81)};
  if (!o.routing.layers.empty()) context.routing = &record;
  const at::Tensor expected =
      surprises(model.recorded_logits(inputs, context), targets).sum({1, 2});
  if (context.control.u.defined()) {
    context.control.u = context.control.u.to(model.arena().values().scalar_type());
  }
  Batch batch{.windows = windows, .step = kScoredStep, .control = context.control};
  const Objective::Losses losses = model.language().losses(batch);
  to.note(relative(losses.loss, expected), sums, "training loss");
  at::Tensor total = expected;
  const std::vector<LossTerm> terms = model.model().family().loss_terms();
  for (std::size_t i = 0; i < losses.parts.size(); ++i) {
    const at::Tensor part = losses.parts[i].detach().to(at::kDouble);
    const at::Tensor known = term_of_record(terms[i].name, record);
    if (known.defined()) {
      to.note(relative(part, known), 10 * sums, "loss term " + std::string(terms[i].name));
    }
    total = total + at::tensor(terms[i].weight, at::kDouble) * part;
  }
  to.note(relative(losses.total, total), sums, "the total of loss terms");

  batch.step = 0;
  ForwardContext plain{.control = context.control};
  const at::Tensor logits = model.logits(inputs, plain);
  const LanguageModel::Scores scores = model.language().score(batch);
  to.note(relative(scores.loss, surprises(logits, targets)), each, "a token's score");
  const at::Tensor right = logits.argmax(-1).eq(targets);
  to.note(right.ne(scores.correct).any().item<bool>() ? 1 : 0, 0.5, "whether a token is predicted");
}

/// The figures of an evaluation against sums over windows by hand.
void compare_evaluation(Disagreement& to, AuditModel& model, std::int64_t tokens,
                        std::optional<std::int64_t> stride) {
  const ModelOptions& o = model.options();
  if (o.flow.control_bias) return;  // an evaluation has no signal, these logits would
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

AuditResult check_scores(AuditRoom& room) {
  Disagreement worst;
  const std::int64_t tokens = std::min(room.tokens(), kDeepTwin.tokens);
  AuditModel wide = room.twin(kDeepTwin, room.cells(), Arithmetic::Float64);
  compare_scores(worst, wide, kScoredRows, tokens, kWideSumTolerance, kWideSumTolerance);
  AuditModel twin = room.twin(kDeepTwin, room.cells());
  for (const std::optional<std::int64_t>& stride :
       {std::optional<std::int64_t>(), std::optional<std::int64_t>((tokens + 1) / 2)}) {
    compare_evaluation(worst, twin, tokens, stride);
  }
  AuditModel* several = room.several();
  if (several != nullptr) {
    const double row = room.row_flops() * static_cast<double>(several->options().cells);
    const auto rows = std::clamp<std::int64_t>(static_cast<std::int64_t>(kScoredFlops / (4 * row)),
                                               1, kScoredRows);
    compare_scores(worst, *several, rows, room.tokens(), kSumTolerance, kTokenTolerance);
  }
  if (!(worst.worst <= 1)) {
    return judged(false, worst.value, worst.value / worst.worst,
                  worst.where + " is not what the logits of the same pass give");
  }
  return judged(true, worst.value, kSumTolerance,
                "losses, scores and evaluations against sums over the logits");
}

AuditResult check_positions(AuditRoom& room) {
  const std::int64_t tokens = std::min(room.tokens(), kLongTwin.tokens);
  if (room.options().positions != Positions::Learned) {
    return judged(true, 0, kWideSumTolerance, "no table of positions");
  }
  TwinSize size = kWideTwin;
  size.tokens = tokens;
  ModelOptions o = room.various(size, {0});
  o.vocabulary = tokens + 2;  // every token of the sequence is another one
  o.max_tokens = std::max(o.max_tokens, tokens);
  AuditModel model(room.subject(), o, {room.subject().seed}, Arithmetic::Float64);
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(101);
  const at::Tensor text = at::randperm(tokens, random, at::kLong).view({1, 1, tokens});
  // The logits of a token that the sequence lacks: a tied head reads its row only.
  const at::Tensor weight = at::randn({1, 1, tokens}, random, at::kDouble);
  const ForwardContext context{.training = true, .control = audit_control(o, text, 101)};
  model.arena().zero_gradients();
  (model.recorded_logits(text, context).select(3, tokens + 1) * weight).sum().backward();
  const auto gradient = [&](const char* name) {
    return slot_view(model.arena().gradients(), model.layout().find(name))[0];
  };
  const at::Tensor by_token = gradient("embedding.weight").index_select(0, text.view({-1}));
  const at::Tensor by_place = gradient("position.weight");
  const double scale = std::max(1e-300, by_token.abs().max().item<double>());
  double off = largest_difference(by_place.narrow(0, 0, tokens), by_token) / scale;
  off = std::max(off,
                 by_place.narrow(0, tokens, by_place.size(0) - tokens).abs().sum().item<double>());
  // A text in pieces, as decoding reads it.
  const at::Tensor whole = model.model().embed(text);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const at::Tensor piece = model.model().embed(text.narrow(2, t, 1), t);
    if (!same_bits(piece.detach(), whole.narrow(2, t, 1).detach())) off = HUGE_VAL;
  }
  return judged(off <= kWideSumTolerance, off, kWideSumTolerance,
                off <= kWideSumTolerance
                    ? fmt::format("{} positions: each vector is added where it belongs", tokens)
                    : "the vector of a position is not added to the token at that position");
}

}  // namespace depthgrid
