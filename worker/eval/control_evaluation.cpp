#include "worker/eval/control_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "core/data/eval_batches.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kBlock = 50;  // sentences in a row, about an article's
constexpr std::int64_t kResamples = 1000;
constexpr std::uint64_t kSeed = 0;

// Passes over the text: these, then plus and minus of each axis.
enum Pass : std::size_t { kNeutral, kPrevious, kMatched, kMismatched, kAxes };

/// u of a pass at the input before token `at`. @param out  (c)
void signal_of(std::size_t pass, const SentenceLabels& labels, std::int64_t at,
               std::span<float> out) {
  if (pass == kNeutral) return;
  if (pass >= kAxes) {
    out[(pass - kAxes) / 2] = (pass - kAxes) % 2 == 0 ? 1.0F : -1.0F;
    return;
  }
  const std::int32_t own = labels.segment[static_cast<std::size_t>(at)];
  const std::int32_t segment =
      pass == kPrevious ? labels.previous[static_cast<std::size_t>(own)] : own;
  if (segment < 0) return;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const float label = labels.u[static_cast<std::size_t>(segment) * out.size() + k];
    if (!std::isnan(label)) out[k] = pass == kMismatched ? -label : label;
  }
}

/// Sums of one cell.
struct Sums {
  std::vector<double> loss;                   // of each pass
  double tokens = 0;                          // of one pass
  std::vector<std::vector<double>> sentence;  // of each pass, by segment
  std::vector<double> length;                 // tokens of each segment
};

/// Adds the losses of a pass over one window, whose first token is `start`. @param counted  (T) 1
/// where the prediction counts.
void add_window(Sums& to, std::size_t pass, const SentenceLabels& labels, std::int64_t start,
                std::span<const float> losses, std::span<const float> counted) {
  for (std::size_t t = 0; t < losses.size(); ++t) {
    if (counted[t] == 0) continue;
    const auto segment =
        static_cast<std::size_t>(labels.segment[static_cast<std::size_t>(start) + t + 1]);
    to.loss[pass] += static_cast<double>(losses[t]);
    to.sentence[pass][segment] += static_cast<double>(losses[t]);
    if (pass != kNeutral) continue;
    to.tokens += 1;
    to.length[segment] += 1;
  }
}

/// Mean and standard error of the gain of labelled sentences all of whose tokens were predicted.
std::pair<double, double> gain_of(const Sums& sums, const SentenceLabels& labels) {
  double n = 0, sum = 0, squares = 0;
  std::vector<double> whole(sums.length.size());
  for (const std::int32_t segment : labels.segment) whole[static_cast<std::size_t>(segment)] += 1;
  for (std::size_t s = 0; s < sums.length.size(); ++s) {
    bool labelled = false;
    for (std::int64_t k = 0; k < labels.axes; ++k) {
      labelled = labelled || labels.positive[s * static_cast<std::size_t>(labels.axes) +
                                             static_cast<std::size_t>(k)] >= 0;
    }
    if (!labelled || sums.length[s] == 0 || sums.length[s] < whole[s]) continue;
    const double gain = sums.sentence[kNeutral][s] - sums.sentence[kMatched][s];
    n += 1;
    sum += gain;
    squares += gain * gain;
  }
  if (n < 2) return {n > 0 ? sum / n : kNaN, kNaN};
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1))};
}

ControlFigures figures_of(const Sums& sums, const SentenceLabels& labels) {
  const auto axes = static_cast<std::size_t>(labels.axes);
  ControlFigures out;
  const auto loss = [&](Pass pass) { return sums.loss[pass] / sums.tokens; };
  out.neutral = loss(kNeutral);
  out.previous = loss(kPrevious);
  out.matched = loss(kMatched);
  out.mismatched = loss(kMismatched);
  std::tie(out.gain, out.gain_error) = gain_of(sums, labels);
  const std::size_t segments = sums.length.size();
  for (std::size_t k = 0; k < axes; ++k) {
    std::vector<double> scores(segments, kNaN);
    for (std::size_t s = 0; s < segments; ++s) {
      if (sums.length[s] == 0) continue;
      scores[s] =
          (sums.sentence[kAxes + 2 * k + 1][s] - sums.sentence[kAxes + 2 * k][s]) / sums.length[s];
    }
    for (std::size_t other = 0; other < axes; ++other) {
      std::vector<std::int8_t> flags(segments);
      for (std::size_t s = 0; s < segments; ++s) flags[s] = labels.positive[s * axes + other];
      out.auc.push_back(area_with_interval(scores, flags, kBlock, kResamples, kSeed));
    }
  }
  return out;
}

}  // namespace

std::optional<std::vector<ControlFigures>> ControlEvaluation::on(
    LanguageModel& model, Split split, const std::function<bool()>& stop) const {
  const at::NoGradGuard no_grad;
  const TokenStream& stream = data_.split(split);
  const EvalWindows windows = plan_.windows(split, true);
  std::vector<ControlFigures> out;
  if (windows.size() == 0) return out;
  const auto at = static_cast<std::size_t>(split);
  const auto axes = std::ssize(labels_.front()->attributes);
  const std::size_t passes = kAxes + 2 * static_cast<std::size_t>(axes);
  std::vector<Sums> sums(labels_.size());
  for (std::size_t e = 0; e < sums.size(); ++e) {
    const auto segments = static_cast<std::size_t>(labels_[e]->splits[at].segments());
    sums[e].loss.resize(passes);
    sums[e].sentence.assign(passes, std::vector<double>(segments));
    sums[e].length.resize(segments);
  }
  const EvalBatches batches(stream, windows, plan_.batch_size());
  for (std::int64_t b = 0; b < batches.size(); ++b) {
    const EvalBatch batch = batches.batch(b);
    const at::Tensor tokens = batch.tokens.narrow(1, 0, batch.length + 1).unsqueeze(0);
    const at::Tensor mask = batch.mask.contiguous();
    const std::int64_t n = tokens.size(1), length = batch.length;
    const auto starts =
        std::span(windows.starts)
            .subspan(static_cast<std::size_t>(batch.first), static_cast<std::size_t>(n));
    for (std::size_t pass = 0; pass < passes; ++pass) {
      if (stop && stop()) return std::nullopt;
      at::Tensor u = at::zeros({std::ssize(labels_), n, length, axes});
      auto* to = u.data_ptr<float>();
      for (const auto& labels : labels_) {
        for (const std::int64_t start : starts) {
          const std::int32_t* const segment = labels->splits[at].segment.data() + start;
          if (whole_ && pass < kAxes &&
              segment[1] != segment[length]) {  // neutral in training, too
            to += length * axes;
            continue;
          }
          for (std::int64_t t = 0; t < length; ++t, to += axes) {
            signal_of(pass, labels->splits[at], start + t + 1,
                      {to, static_cast<std::size_t>(axes)});
          }
        }
      }
      if (window_) u = u.mean(2, /*keepdim=*/true);
      const at::Tensor loss =
          model.score({.windows = tokens, .first_row = batch.first, .control = {u}})
              .loss.cpu()
              .contiguous();
      const auto* from = loss.const_data_ptr<float>();
      const auto places = static_cast<std::size_t>(length);
      for (std::size_t e = 0; e < labels_.size(); ++e) {
        const float* counted = mask.const_data_ptr<float>();
        for (const std::int64_t start : starts) {
          add_window(sums[e], pass, labels_[e]->splits[at], start, {from, places},
                     {counted, places});
          from += length;
          counted += mask.size(1);
        }
      }
    }
  }
  for (std::size_t e = 0; e < sums.size(); ++e) {
    out.push_back(figures_of(sums[e], labels_[e]->splits[at]));
  }
  return out;
}

}  // namespace depthgrid
