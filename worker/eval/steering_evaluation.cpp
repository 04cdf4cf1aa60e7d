#include "worker/eval/steering_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"
#include "core/data/eval_batches.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kSteeringRows = 32;  // of a batch, at most
constexpr std::int64_t kTextWindows = 256;  // at most
constexpr std::size_t kSignals = kSteeringSignalNames.size();
constexpr std::array<float, kSignals> kSigns = {1, 0, -1};  // by Signal

/// What is asked behind one text, by whose figures it counts.
struct SteeringQuestion {
  std::size_t axis = 0;
  SteeringFigures::Part part = SteeringFigures::Train;
  std::vector<std::uint32_t> positive, negative;
};

/// Texts of one length, and the question behind each.
struct SteeringRows {
  at::Tensor windows;      // (1, n, length + 1); the last of them is not read
  std::int64_t first = 0;  // number of the first one: keys the draws of some models
  std::vector<const SteeringQuestion*> questions;  // (n)

  std::int64_t size() const noexcept { return std::ssize(questions); }
  std::int64_t length() const { return windows.size(2) - 1; }
};

/// -log of the probability of both sets, nats. [signal][0: positive, 1: negative]
using SetLosses = std::array<std::array<at::Tensor, 2>, kSignals>;  // (E, n) float64

/// (1, n, size of the largest set), shorter ones filled up with -1.
at::Tensor wanted_of(const SteeringRows& rows, bool positive) {
  const auto set = [&](const SteeringQuestion* q) -> const std::vector<std::uint32_t>& {
    return positive ? q->positive : q->negative;
  };
  std::size_t largest = 0;
  for (const SteeringQuestion* q : rows.questions) largest = std::max(largest, set(q).size());
  const auto width = static_cast<std::int64_t>(largest);
  at::Tensor out = at::full({1, rows.size(), width}, -1, at::TensorOptions(at::kLong));
  auto* to = out.data_ptr<std::int64_t>();
  for (const SteeringQuestion* q : rows.questions) {
    std::ranges::copy(set(q), to);
    to += width;
  }
  return out;
}

/// (E, n, 1, c): one signal for a whole text, as a prefix of the text wants it.
at::Tensor signal_on_axes(const SteeringRows& rows, float sign, std::int64_t cells,
                          std::int64_t axes) {
  const at::Tensor u = at::zeros({1, rows.size(), 1, axes});
  auto* to = u.data_ptr<float>();
  for (const SteeringQuestion* q : rows.questions) {
    to[q->axis] = sign;
    to += axes;
  }
  return u.expand({cells, -1, -1, -1}).contiguous();
}

/// 1 if the set of the first loss is more probable, 0 if that of the second one is, half a tie; NaN
/// for a cell whose losses are.
double more_probable(double loss, double other) {
  if (std::isnan(loss) || std::isnan(other)) return kNaN;
  return loss == other ? 0.5 : loss < other ? 1 : 0;
}

/// Adds a text's losses to the sums that means_of() divides. @param losses  [signal][set]
void add_text(SteeringFigures::Entry& to,
              const std::array<std::array<double, 2>, kSignals>& losses) {
  using F = SteeringFigures;
  if (to.prompts++ == 0) {
    to.positive.fill(0);
    to.negative.fill(0);
    to.accuracy = to.neutral_share = 0;
  }
  for (std::size_t s = 0; s < kSignals; ++s) {
    to.positive[s] += std::exp(-losses[s][0]);
    to.negative[s] += std::exp(-losses[s][1]);
  }
  to.accuracy += (more_probable(losses[F::Plus][0], losses[F::Plus][1]) +
                  more_probable(losses[F::Minus][1], losses[F::Minus][0])) /
                 2;
  to.neutral_share += more_probable(losses[F::Zero][0], losses[F::Zero][1]);
}

void means_of(SteeringFigures& figures) {
  for (auto& parts : figures.axes) {
    for (SteeringFigures::Entry& entry : parts) {
      if (entry.prompts == 0) continue;
      const auto n = static_cast<double>(entry.prompts);
      for (double& mass : entry.positive) mass /= n;
      for (double& mass : entry.negative) mass /= n;
      entry.accuracy /= n;
      entry.neutral_share /= n;
    }
    parts[SteeringFigures::Text].accuracy = kNaN;
  }
}

/// One model asked about rows after rows.
class SteeringPass {
 public:
  SteeringPass(LanguageModel& model, const std::function<bool()>& stop, std::int64_t cells,
               std::int64_t axes)
      : model_(model), stop_(stop), axes_(axes), figures_(static_cast<std::size_t>(cells)) {
    for (SteeringFigures& one : figures_) one.axes.resize(static_cast<std::size_t>(axes));
  }

  /// @return false once it was stopped.
  bool ask(const SteeringRows& rows) {
    const at::Tensor place =
        at::full({1, rows.size()}, rows.length() - 1, at::TensorOptions(at::kLong));
    SetLosses losses;
    for (std::size_t s = 0; s < kSignals; ++s) {
      const at::Tensor u = signal_on_axes(rows, kSigns[s], std::ssize(figures_), axes_);
      for (std::size_t set = 0; set < 2; ++set) {
        if (stop_ && stop_()) return false;
        losses[s][set] = model_
                             .answer_losses({.windows = rows.windows,
                                             .first_row = rows.first,
                                             .control = {u},
                                             .answers = {place, wanted_of(rows, set == 0)}})
                             .to(at::kCPU, at::kDouble)
                             .contiguous();
      }
    }
    for (std::size_t e = 0; e < figures_.size(); ++e) {
      for (std::size_t r = 0; r < rows.questions.size(); ++r) {
        std::array<std::array<double, 2>, kSignals> each{};
        for (std::size_t s = 0; s < kSignals; ++s) {
          for (std::size_t set = 0; set < 2; ++set) {
            each[s][set] = losses[s][set].const_data_ptr<double>()[e * rows.questions.size() + r];
          }
        }
        const SteeringQuestion& q = *rows.questions[r];
        add_text(figures_[e].axes[q.axis][q.part], each);
      }
    }
    return true;
  }

  std::vector<SteeringFigures> figures() && {
    for (SteeringFigures& one : figures_) means_of(one);
    return std::move(figures_);
  }

 private:
  LanguageModel& model_;
  const std::function<bool()>& stop_;
  std::int64_t axes_;
  std::vector<SteeringFigures> figures_;  // (E) sums
};

bool ask_prompts(SteeringPass& pass, const std::vector<SteeringTokens>& prompts) {
  std::vector<SteeringQuestion> questions;
  std::vector<std::size_t> order;  // by length, so that rows of a batch need no padding
  for (const SteeringTokens& one : prompts) {
    order.push_back(questions.size());
    questions.push_back({one.axis, one.heldout ? SteeringFigures::Heldout : SteeringFigures::Train,
                         one.positive, one.negative});
  }
  const auto length = [&](std::size_t i) { return prompts[order[i]].prompt.size(); };
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return prompts[i].prompt.size(); });
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && length(end) == length(first) &&
           end - first < static_cast<std::size_t>(kSteeringRows)) {
      ++end;
    }
    std::vector<std::int64_t> ids;
    SteeringRows rows;
    rows.first = static_cast<std::int64_t>(first);
    for (const std::size_t i : std::span(order).subspan(first, end - first)) {
      ids.insert(ids.end(), prompts[i].prompt.begin(), prompts[i].prompt.end());
      ids.push_back(0);
      rows.questions.push_back(&questions[i]);
    }
    rows.windows = at::tensor(ids, at::TensorOptions(at::kLong)).view({1, rows.size(), -1});
    if (!pass.ask(rows)) return false;
  }
  return true;
}

/// The sets of an axis over all of its prompts; empty if it has none.
SteeringQuestion question_of_text(const std::vector<SteeringTokens>& prompts, std::size_t axis) {
  std::set<std::uint32_t> positive, negative;
  for (const SteeringTokens& one : prompts) {
    if (one.axis != axis) continue;
    positive.insert(one.positive.begin(), one.positive.end());
    negative.insert(one.negative.begin(), one.negative.end());
  }
  return {axis,
          SteeringFigures::Text,
          {positive.begin(), positive.end()},
          {negative.begin(), negative.end()}};
}

}  // namespace

std::optional<std::vector<SteeringFigures>> SteeringEvaluation::on(
    LanguageModel& model, const std::function<bool()>& stop) const {
  const at::NoGradGuard no_grad;
  const auto axes = static_cast<std::size_t>(axes_);
  for (const SteeringTokens& one : prompts_) {
    if (one.axis >= axes) throw Error("steering: a prompt of an axis that the model lacks");
  }
  SteeringPass pass(model, stop, cells_, axes_);
  if (!ask_prompts(pass, prompts_)) return std::nullopt;
  EvalWindows windows = plan_.windows(Split::Valid, true);
  if (windows.size() > kTextWindows) windows = spaced_windows(windows, kTextWindows);
  std::vector<SteeringQuestion> questions;
  for (std::size_t k = 0; k < axes; ++k) {
    SteeringQuestion question = question_of_text(prompts_, k);
    if (!question.positive.empty()) questions.push_back(std::move(question));
  }
  if (windows.size() > 0) {
    const EvalBatches batches(data_.valid(), windows, std::min(kSteeringRows, plan_.batch_size()));
    for (std::int64_t b = 0; b < batches.size(); ++b) {
      const EvalBatch batch = batches.batch(b);
      const at::Tensor tokens = batch.tokens.narrow(1, 0, batch.length + 1).unsqueeze(0);
      for (const SteeringQuestion& question : questions) {
        const std::vector<const SteeringQuestion*> each(static_cast<std::size_t>(tokens.size(1)),
                                                        &question);
        if (!pass.ask({tokens, batch.first, each})) return std::nullopt;
      }
    }
  }
  return std::move(pass).figures();
}

}  // namespace depthgrid
