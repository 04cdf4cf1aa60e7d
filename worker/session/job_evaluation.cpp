#include "worker/session/job_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/nan.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/session/cell_facts_builder.hpp"

namespace depthgrid {

JobEvaluation::JobEvaluation(TrainedJob& job, EarlyStop& early_stop, SessionRecorder& recorder)
    : job_(job),
      early_stop_(early_stop),
      recorder_(recorder),
      plan_(*job.configs[0], *job.data, job.fused.options.cells),
      modes_(*job.data, plan_, *job.fused.model, *job.fused.language,
             configured_modes(*job.configs[0], *job.fused.model)) {
  const std::int64_t first = job.job.first_step;
  for (std::int64_t s = 0; first > 0 && s <= first; ++s) made_ += due(s) ? 1 : 0;
}

/// No row is written, and none synced, while a job is evaluated. Where the last time was long, what
/// is there is synced first.
void JobEvaluation::keep_rows() {
  constexpr double kLong = 1;
  if (seconds_ < kLong) return;
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    if (job_.running(e)) recorder_.cell(e).sync();
  }
}

void JobEvaluation::evaluate(std::int64_t step) {
  keep_rows();
  const Stopwatch clock;
  job_.run.progress.phase("evaluating");
  const InPhase phase(job_.run.watchdog, WorkPhase::Evaluation);
  modes_.calibrate(false);
  const SplitResults results = plan_.periodic(*job_.fused.language, modes_.listener(false));
  const std::optional<ModeResults> modes =
      modes_.active() ? modes_.evaluate(false, {}) : std::nullopt;
  const auto published = plan_.published(*job_.fused.language, made_++);
  std::vector<std::size_t> evaluated;
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    if (!job_.running(e)) continue;
    recorder_.cell(e).eval_row(step, {results, published, modes, e});
    if (modes) recorder_.cell(e).put(*modes, e);
    periodic_[e] = unsound_in(e, results, modes);
    evaluated.push_back(e);
  }
  seconds_ = clock.seconds();
  recorder_.charge(&CellClock::eval, seconds_, evaluated);
  for (const std::size_t e : early_stop_.see(step, results[static_cast<std::size_t>(Split::Dev)])) {
    if (step == job_.job.first_step) continue;  // already recorded
    const LowestLoss& lowest = early_stop_.lowest(e);
    recorder_.cell(e).event(step, EventKind::EarlyStop, lowest.margin_below,
                            fmt::format("no better than at step {}", lowest.patient_since));
  }
}

std::optional<FinalResults> JobEvaluation::final() {
  job_.run.progress.phase("final evaluation");
  const InPhase phase(job_.run.watchdog, WorkPhase::Evaluation);
  keep_rows();
  const Stopwatch clock;
  modes_.calibrate(true);
  const auto stopped = [this] {  // asked between batches
    job_.run.watchdog.beat();
    return stop_requested();
  };
  auto splits = plan_.final(*job_.fused.language, stopped, modes_.listener(true));
  if (!splits) return std::nullopt;
  FinalResults out{std::move(*splits), std::nullopt};
  if (modes_.active()) {
    out.modes = modes_.evaluate(true, stopped);
    if (!out.modes) return std::nullopt;
  }
  std::vector<std::size_t> evaluated;
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    const CellStatus status = job_.status(e);
    if (status != CellStatus::Diverged && status != CellStatus::Cancelled) evaluated.push_back(e);
  }
  // A process that goes on after the last periodic evaluation has not seen it.
  const auto seen = [this](std::size_t e) { return periodic_.contains(e); };
  if (!std::ranges::all_of(evaluated, seen)) {
    const SplitResults again = plan_.periodic(*job_.fused.language);
    for (const std::size_t e : evaluated) periodic_.emplace(e, unsound_in(e, again, {}));
  }
  recorder_.charge(&CellClock::eval, clock.seconds(), evaluated);
  return out;
}

std::optional<double> JobEvaluation::unsound(std::size_t e, const FinalResults& results) const {
  if (const auto found = unsound_in(e, results.splits, results.modes)) return found;
  const auto periodic = periodic_.find(e);
  return periodic == periodic_.end() ? std::nullopt : periodic->second;
}

std::optional<double> JobEvaluation::unsound_in(std::size_t e, const SplitResults& splits,
                                                const std::optional<ModeResults>& modes) const {
  const double bound = job_.fused.train.diverged_above[e];
  // Of a finite loss above 709 the perplexity is not finite.
  const auto sound = [&](double loss) { return std::isfinite(std::exp(loss)) && loss <= bound; };
  for (const std::vector<EvalResult>& split : splits) {
    if (!split.empty() && split[e].tokens > 0 && !sound(split[e].loss)) return split[e].loss;
  }
  if (!modes) return std::nullopt;
  const std::vector<double>& loss = modes->loss;
  const std::size_t each = loss.size() / recorder_.size();
  for (std::size_t m = e * each; m < (e + 1) * each; ++m) {
    if (!std::isnan(loss[m]) && !sound(loss[m])) return loss[m];  // NaN: not evaluated
  }
  return std::nullopt;
}

void JobEvaluation::set_final(CellFacts& facts, std::size_t e, const FinalResults& results) const {
  const auto column = [&](const char* name, auto member, double absent) {
    std::vector<double> out;
    for (const std::vector<EvalResult>& split : results.splits) {
      out.push_back(split.empty() ? absent : static_cast<double>(split[e].*member));
    }
    facts.set(name, out);
  };
  column("final_loss", &EvalResult::loss, kNaN);
  column("final_loss_error", &EvalResult::error, kNaN);
  column("final_tokens", &EvalResult::tokens, -1);
  column("final_bits_per_byte", &EvalResult::bits_per_byte, kNaN);
  column("final_perplexity", &EvalResult::perplexity, kNaN);
  if (results.modes) {
    set_modes(facts, *results.modes, job_.fused, e, job_.sampler.seq_len());
  }
}

}  // namespace depthgrid
