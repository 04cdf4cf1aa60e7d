#include "core/train/lr_schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::pair<std::string_view, ScheduleKind>, 4> kWords = {{
    {"constant", ScheduleKind::Constant},
    {"cosine", ScheduleKind::Cosine},
    {"linear", ScheduleKind::Linear},
    {"wsd", ScheduleKind::Wsd},
}};

constexpr double kWsdShare = 0.2;

/// Progress of the decay: (s - start) / length, clamped to 0 ... 1.
double progress(std::int64_t step, std::int64_t start, std::int64_t length) {
  if (step <= start) return 0;
  if (step >= start + length) return 1;
  return static_cast<double>(step - start) / static_cast<double>(length);
}

double wsd_progress(const ScheduleOptions& o, std::int64_t step) {
  const std::int64_t wanted = o.decay_steps.value_or(
      std::max<std::int64_t>(1, std::llround(kWsdShare * static_cast<double>(o.steps))));
  if (wanted == 0) return 0;
  const std::int64_t start = std::max(o.warmup_steps, o.steps - wanted);
  return progress(step, start, o.steps - start);
}

}  // namespace

ScheduleKind schedule_kind(std::string_view word) {
  const auto* const found = std::ranges::find(kWords, word, &decltype(kWords)::value_type::first);
  if (found == kWords.end()) throw Error("no learning-rate schedule '" + std::string(word) + "'");
  return found->second;
}

double schedule_factor(const ScheduleOptions& o, std::int64_t step) {
  if (step < 1 || step > o.steps) {
    throw Error("schedule: step " + std::to_string(step) + " is not within 1 ... " +
                std::to_string(o.steps));
  }
  if (step <= o.warmup_steps) {
    return static_cast<double>(step) / static_cast<double>(o.warmup_steps);
  }
  const std::int64_t rest = o.decay_steps.value_or(o.steps - o.warmup_steps);
  switch (o.kind) {
    case ScheduleKind::Constant:
      return 1;
    case ScheduleKind::Cosine: {
      const double q = progress(step, o.warmup_steps, rest);
      return o.final_ratio + (1 - o.final_ratio) * 0.5 * (1 + std::cos(std::numbers::pi * q));
    }
    case ScheduleKind::Linear:
      return 1 - (1 - o.final_ratio) * progress(step, o.warmup_steps, rest);
    case ScheduleKind::Wsd:
      return 1 - (1 - o.final_ratio) * wsd_progress(o, step);
  }
  throw Error("schedule: unknown kind");
}

}  // namespace depthgrid
