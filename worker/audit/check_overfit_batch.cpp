#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>

#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_training.hpp"

namespace depthgrid {
namespace {

constexpr double kLearned = 0.1;
constexpr double kOverfitRate = 5e-3;
constexpr std::int64_t kOverfitRows = 2;
constexpr std::int64_t kOverfitSteps = 400;
constexpr std::int64_t kLook = 25;
constexpr double kStillFalling = 0.9;  // relative to the loss a hundred steps ago

}  // namespace

AuditResult check_overfit_batch(AuditRoom& room) {
  AuditModel twin = room.learner();
  AuditTraining training(twin, {kOverfitRate}, kOverfitSteps);
  const std::int64_t tokens = std::min(room.tokens(), kLearningTwin.tokens);
  const at::Tensor windows =
      audit_tokens(twin.options().vocabulary, {1, kOverfitRows, tokens + 1}, 41);
  std::vector<double> seen;
  for (std::int64_t step = 1; step <= kOverfitSteps; ++step) {
    // In training mode: the decider used in evaluation need not have learned the batch.
    const double loss = training.backward(windows, step).item<double>();
    training.update(step);
    if (step % kLook != 0) continue;
    seen.push_back(loss);
    if (seen.back() < kLearned || std::isnan(seen.back())) break;
  }
  const double loss = seen.back();
  const std::string note = fmt::format("{} sequences of {} random tokens, {} steps", kOverfitRows,
                                       tokens, static_cast<std::int64_t>(seen.size()) * kLook);
  const bool falling = seen.size() > 4 && loss < kStillFalling * seen[seen.size() - 5];
  if (!(loss < kLearned) && falling) {
    return unjudged(AuditVerdict::Undecided, loss, kLearned, note + ", still falling");
  }
  return judged(loss < kLearned, loss, kLearned, note);
}

}  // namespace depthgrid
