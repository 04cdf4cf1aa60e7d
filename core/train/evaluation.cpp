#include "core/train/evaluation.hpp"

#include <cmath>
#include <numbers>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "core/base/nan.hpp"
#include "core/data/eval_batches.hpp"

namespace depthgrid {
namespace {

/// Sums of one cell; window sums are kept for the standard error.
struct Sums {
  double correct = 0;
  std::vector<double> window_loss, window_tokens;
  std::vector<double> position_loss, position_tokens;
};

void add_window(Sums& to, const float* loss, const bool* correct, const float* mask,
                std::int64_t length) {
  double sum = 0, tokens = 0;
  for (std::int64_t t = 0; t < length; ++t) {
    if (mask[t] == 0) continue;
    sum += static_cast<double>(loss[t]);
    tokens += 1;
    to.correct += correct[t] ? 1 : 0;
    to.position_loss[static_cast<std::size_t>(t)] += static_cast<double>(loss[t]);
    to.position_tokens[static_cast<std::size_t>(t)] += 1;
  }
  to.window_loss.push_back(sum);
  to.window_tokens.push_back(tokens);
}

EvalResult summary(const Sums& s, double bytes_per_token) {
  EvalResult r;
  double loss = 0, tokens = 0, squares = 0;
  for (std::size_t w = 0; w < s.window_loss.size(); ++w) {
    loss += s.window_loss[w];
    tokens += s.window_tokens[w];
  }
  r.tokens = static_cast<std::int64_t>(tokens);
  r.loss = tokens > 0 ? loss / tokens : kNaN;
  for (std::size_t w = 0; w < s.window_loss.size(); ++w) {
    const double d = s.window_loss[w] - r.loss * s.window_tokens[w];
    squares += d * d;
  }
  const auto n = static_cast<double>(s.window_loss.size());
  r.error = n > 1 ? std::sqrt(squares * n / (n - 1)) / tokens : kNaN;
  r.perplexity = std::exp(r.loss);
  r.bits_per_byte = bytes_per_token > 0 ? r.loss / (bytes_per_token * std::numbers::ln2) : kNaN;
  r.accuracy = tokens > 0 ? s.correct / tokens : kNaN;
  for (std::size_t t = 0; t < s.position_loss.size(); ++t) {
    r.by_position.push_back(s.position_tokens[t] > 0 ? s.position_loss[t] / s.position_tokens[t]
                                                     : kNaN);
  }
  return r;
}

}  // namespace

std::vector<EvalResult> evaluate(LanguageModel& model, std::int64_t cells,
                                 const TokenStream& stream, const EvalWindows& windows,
                                 std::int64_t batch_size, const std::function<bool()>& stop) {
  const at::NoGradGuard no_grad;
  std::vector<Sums> sums(static_cast<std::size_t>(cells));
  for (Sums& s : sums) {
    s.position_loss.resize(static_cast<std::size_t>(windows.seq_len));
    s.position_tokens.resize(static_cast<std::size_t>(windows.seq_len));
  }
  const EvalBatches batches(stream, windows, batch_size);
  for (std::int64_t b = 0; b < batches.size(); ++b) {
    if (stop && stop()) return {};
    const EvalBatch batch = batches.batch(b);
    const LanguageModel::Scores scores =
        model.score({.windows = batch.tokens.narrow(1, 0, batch.length + 1).unsqueeze(0),
                     .first_row = batch.first});
    const at::Tensor loss = scores.loss.cpu().contiguous();
    const at::Tensor correct = scores.correct.cpu().contiguous();
    const at::Tensor mask = batch.mask.contiguous();
    const std::int64_t n = loss.size(1), length = loss.size(2);
    for (std::int64_t e = 0; e < cells; ++e) {
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = (e * n + i) * length;
        add_window(sums[static_cast<std::size_t>(e)], loss.const_data_ptr<float>() + at,
                   correct.const_data_ptr<bool>() + at,
                   mask.const_data_ptr<float>() + i * mask.size(1), length);
      }
    }
  }
  std::vector<EvalResult> out;
  for (const Sums& s : sums) out.push_back(summary(s, stream.bytes_per_token()));
  return out;
}

}  // namespace depthgrid
