#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include "core/data/markov_chain.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_training.hpp"

namespace depthgrid {
namespace {

constexpr double kMargin = 0.01;  // tolerance below the entropy rate, nats
constexpr double kNear = 0.15;    // nats above it within which the twin has learned the chain
constexpr double kFloorRate = 1e-2;
constexpr std::int64_t kFloorRows = 16;
constexpr std::int64_t kFloorSteps = 200;
constexpr std::int64_t kTrainTokens = 40000;
constexpr std::int64_t kValidWindows = 512;

/// Windows of a stream at uniformly drawn starts. @return (rows, T + 1) int64
at::Tensor windows_of(const std::vector<std::uint32_t>& stream, std::int64_t rows,
                      std::int64_t tokens, std::uint64_t key) {
  const auto places = static_cast<std::int64_t>(stream.size()) - tokens;
  const at::Tensor starts = audit_tokens(places, {rows}, key);
  at::Tensor out = at::empty({rows, tokens + 1}, at::kLong);
  auto* to = out.mutable_data_ptr<std::int64_t>();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto start = static_cast<std::size_t>(starts.const_data_ptr<std::int64_t>()[r]);
    for (std::int64_t t = 0; t <= tokens; ++t) {
      *to++ = stream[start + static_cast<std::size_t>(t)];
    }
  }
  return out;
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

AuditResult check_entropy_floor(AuditRoom& room) {
  AuditModel twin = room.learner();
  const std::int64_t tokens = std::min(room.tokens(), kLearningTwin.tokens);
  const MarkovChain chain(1, twin.options().vocabulary, 1.0);
  const std::vector<std::uint32_t> train = chain.draw(kTrainTokens, "audit/train");
  const std::vector<std::uint32_t> valid = chain.draw(kValidWindows * (tokens + 1), "audit/valid");
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
    return unjudged(AuditVerdict::Undecided, loss, floor, note + ": has not learned the chain");
  }
  return judged(loss >= floor, loss, floor, note);
}

}  // namespace depthgrid
