#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

#include "core/data/markov_chain.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_training.hpp"

namespace depthgrid {
namespace {

constexpr double kLearned = 0.1;
constexpr double kOverfitRate = 5e-3;
constexpr std::int64_t kOverfitRows = 2;
constexpr std::int64_t kOverfitSteps = 400;
constexpr std::int64_t kReadEvery = 25;
constexpr double kStillFalling = 0.9;  // relative to the loss a hundred steps ago

constexpr double kMargin = 0.01;  // tolerance below the entropy rate, nats
constexpr double kNear = 0.15;    // nats above it within which the twin has learned the chain
constexpr double kFloorRate = 1e-2;
constexpr std::int64_t kFloorRows = 16;
constexpr std::int64_t kFloorSteps = 200;
constexpr std::int64_t kTrainTokens = 40000;
constexpr std::int64_t kValidWindows = 512;

/// Windows of a stream at uniformly drawn starts. @param stream  (n) int64.
/// @return (rows, T + 1) int64
at::Tensor windows_of(const at::Tensor& stream, std::int64_t rows, std::int64_t tokens,
                      std::uint64_t key) {
  const at::Tensor starts = audit_tokens(stream.numel() - tokens, {rows, 1}, key);
  return stream.take(starts + at::arange(tokens + 1));
}

/// Mean surprise of the chain itself at the targets of these windows, in nats.
double surprise(const MarkovChain& chain, const at::Tensor& windows) {
  double sum = 0;
  const auto* ids = windows.const_data_ptr<std::int64_t>();
  const std::int64_t width = windows.size(1);
  for (std::int64_t r = 0; r < windows.size(0); ++r) {
    for (std::int64_t t = 1; t < width; ++t) {
      const std::int64_t* at = ids + r * width + t;
      sum -= std::log(chain.row(at[-1])[static_cast<std::size_t>(*at)]);
    }
  }
  return sum / static_cast<double>(windows.size(0) * (width - 1));
}

}  // namespace

AuditResult check_overfit_batch(AuditModels& models) {
  AuditModel twin = models.learner();
  AuditTraining training(twin, {kOverfitRate}, kOverfitSteps);
  const std::int64_t tokens = std::min(models.tokens(), kLearningTwin.tokens);
  const at::Tensor windows =
      audit_tokens(twin.options().vocabulary, {1, kOverfitRows, tokens + 1}, 41);
  std::vector<double> seen;
  for (std::int64_t step = 1; step <= kOverfitSteps; ++step) {
    // In training mode: the decider used in evaluation need not have learned the batch.
    const double loss = training.backward(windows, step).item<double>();
    training.update(step);
    if (step % kReadEvery != 0) continue;
    seen.push_back(loss);
    if (seen.back() < kLearned || std::isnan(seen.back())) break;
  }
  const double loss = seen.back();
  const std::string note = fmt::format("{} sequences of {} random tokens, {} steps", kOverfitRows,
                                       tokens, static_cast<std::int64_t>(seen.size()) * kReadEvery);
  const bool falling = seen.size() > 4 && loss < kStillFalling * seen[seen.size() - 5];
  if (!(loss < kLearned) && falling) {
    return {"", AuditVerdict::Undecided, loss, kLearned, note + ", still falling"};
  }
  return judged(loss < kLearned, loss, kLearned, note);
}

AuditResult check_entropy_floor(AuditModels& models) {
  AuditModel twin = models.learner();
  const std::int64_t tokens = std::min(models.tokens(), kLearningTwin.tokens);
  const MarkovChain chain(1, twin.options().vocabulary, 1.0);
  const auto drawn = [&](std::int64_t n, const char* stream) {
    const std::vector<std::uint32_t> ids = chain.draw(n, stream);
    return at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong);
  };
  const at::Tensor train = drawn(kTrainTokens, "audit/train");
  const at::Tensor valid = drawn(kValidWindows * (tokens + 1), "audit/valid");
  AuditTraining training(twin, {kFloorRate}, kFloorSteps);
  for (std::int64_t step = 1; step <= kFloorSteps; ++step) {
    const auto key = static_cast<std::uint64_t>(step);
    training.backward(windows_of(train, kFloorRows, tokens, key).unsqueeze(0), step);
    training.update(step);
  }
  const at::Tensor windows = windows_of(valid, kValidWindows, tokens, 0);
  const double h = chain.entropy_rate();
  // The chain's own loss on these tokens differs from h by sampling noise, and the model's loss by
  // nearly the same noise.
  const double loss = training.evaluate(windows) - (surprise(chain, windows) - h);
  const double floor = h - kMargin;
  const std::string note =
      fmt::format("entropy rate {:.4f}, ln V {:.4f}, {} steps", h,
                  std::log(static_cast<double>(twin.options().vocabulary)), kFloorSteps);
  if (loss > h + kNear || std::isnan(loss)) {
    return {"", AuditVerdict::Undecided, loss, floor, note + ": has not learned the chain"};
  }
  return judged(loss >= floor, loss, floor, note);
}

}  // namespace depthgrid
