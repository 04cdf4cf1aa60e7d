#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace depthgrid {

enum class ScheduleKind : std::uint8_t { Constant, Cosine, Linear, Wsd };

/// "constant", "cosine", "linear" or "wsd". @throws Error for another word.
ScheduleKind schedule_kind(std::string_view word);

/// One cell's `train.schedule`.
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::Constant;
  std::int64_t steps = 0;                        ///< `train.steps`
  std::int64_t warmup_steps = 0;                 ///< W: linear from 0
  std::optional<std::int64_t> decay_steps = {};  ///< D; none: the rest after W (wsd: 20 % of steps)
  double final_ratio = 0.1;                      ///< final rate / peak rate
};

/// Learning rate of step s relative to the peak, for s = 1 ... steps. A pure function.
///
/// Warm-up: s / W for s <= W, so step 1 has 1 / W and step W the peak. Then, with D decay steps:
/// - constant: 1.
/// - cosine, linear: decay starts right after W; progress q = (s - W) / D, held at 1 afterwards:
///   f + (1 - f) (1 + cos pi q) / 2, or 1 - (1 - f) q, with f = final_ratio.
/// - wsd (warm-up, stable, decay): 1 until step steps - D, then linear to f at the last step.
/// A decay that does not fit after the warm-up is truncated by the end of training (wsd: it starts
/// right after the warm-up and still ends at f).
/// Source: Loshchilov & Hutter (2017), SGDR, eq. 5; Hu et al. (2024), MiniCPM, section 4.2.
/// @throws Error if step is not within 1 ... steps.
double schedule_factor(const ScheduleOptions& options, std::int64_t step);

}  // namespace depthgrid
