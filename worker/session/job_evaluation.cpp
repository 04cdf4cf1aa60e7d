#include "worker/session/job_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/nan.hpp"
#include "core/train/control_batches.hpp"
#include "worker/eval/loss_change.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/session/cell_facts_builder.hpp"
#include "worker/session/control_facts.hpp"

namespace depthgrid {
namespace {

/// Those of model.control.names; unnamed axes are counted.
std::vector<std::string> axis_names(const CellConfig& config) {
  std::vector<std::string> names = config.names("model.control.names");
  for (std::int64_t k = std::ssize(names); k < config.integer("model.control.dim"); ++k) {
    names.push_back(fmt::format("axis {}", k));
  }
  return names;
}

}  // namespace

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

JobEvaluation::Periodic JobEvaluation::periodic(std::int64_t index) {
  modes_.calibrate(false);
  Periodic out;
  out.splits = plan_.periodic(*job_.fused.language, modes_.listener(false));
  if (modes_.active()) out.modes = modes_.evaluate(false, {});
  out.published = plan_.published(*job_.fused.language, index);
  return out;
}

void JobEvaluation::evaluate(std::int64_t step) {
  keep_rows();
  const Stopwatch clock;
  job_.run.progress.phase("evaluating");
  const InPhase phase(job_.run.watchdog, WorkPhase::Evaluation);
  const Periodic now = periodic(made_++);
  std::vector<std::size_t> evaluated;
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    if (!job_.running(e)) continue;
    recorder_.cell(e).eval_row(step, {now.splits, now.published, now.modes, e});
    if (now.modes) recorder_.cell(e).put(*now.modes, e);
    unsound_[e] = unsound_in(e, now);
    evaluated.push_back(e);
  }
  seconds_ = clock.seconds();
  recorder_.charge(&CellClock::eval, seconds_, evaluated);
  for (const std::size_t e :
       early_stop_.see(step, now.splits[static_cast<std::size_t>(Split::Dev)])) {
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
  std::vector<std::size_t> evaluated;
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    const CellStatus status = job_.status(e);
    if (status != CellStatus::Diverged && status != CellStatus::Cancelled) evaluated.push_back(e);
  }
  // A process that goes on after the last periodic evaluation has not seen it.
  const auto seen = [this](std::size_t e) { return unsound_.contains(e); };
  if (due(job_.steps()) && !std::ranges::all_of(evaluated, seen)) {
    const Periodic again = periodic(made_ - 1);
    for (const std::size_t e : evaluated) unsound_.emplace(e, unsound_in(e, again));
  }
  modes_.calibrate(true);
  const auto stopped = [this] {  // asked between batches
    job_.run.watchdog.beat();
    return stop_requested();
  };
  auto splits = plan_.final(*job_.fused.language, stopped, modes_.listener(true));
  if (!splits) return std::nullopt;
  FinalResults out{std::move(*splits), std::nullopt};
  if (!evaluate_control(out, stopped)) return std::nullopt;
  const FlowOptions& flow = job_.fused.options.flow;
  if (flow.replaced() > 0 && flow.field != FieldKind::Block) {
    auto costs =
        bypass_costs(*job_.fused.language, plan_, *job_.data, job_.fused.options.cells, stopped);
    if (!costs) return std::nullopt;
    out.bypass_costs = std::move(*costs);
  }
  if (modes_.active()) {
    out.modes = modes_.evaluate(true, stopped);
    if (!out.modes) return std::nullopt;
  }
  recorder_.charge(&CellClock::eval, clock.seconds(), evaluated);
  return out;
}

bool JobEvaluation::evaluate_control(FinalResults& results, const std::function<bool()>& stopped) {
  const CellConfig& config = *job_.configs[0];
  if (job_.prompts.empty() && job_.labels.empty()) return true;
  const ModelOptions& model = job_.fused.options;
  auto costs = neutral_costs(*job_.fused.language, plan_, *job_.data, model.cells,
                             model.control.axes, stopped);
  if (!costs) return false;
  results.neutral_costs = std::move(*costs);
  if (!job_.prompts.empty()) {
    const SteeringEvaluation steering(plan_, *job_.data, job_.prompts, model.cells,
                                      model.control.axes);
    auto figures = steering.on(*job_.fused.language, stopped);
    if (figures) results.steering = std::move(*figures);
    return figures.has_value();
  }
  const ControlDraws draws = control_draws(config);
  const ControlEvaluation control(plan_, *job_.data, job_.labels, draws.window, draws.whole);
  for (const std::string& split : config.words("eval.final_splits")) {
    const std::size_t at = label_index(kSplitNames, split);
    auto figures = control.on(*job_.fused.language, static_cast<Split>(at), stopped);
    if (!figures) return false;
    results.control.at(at) = std::move(*figures);
  }
  return true;
}

std::optional<double> JobEvaluation::unsound(std::size_t e, const FinalResults& results) const {
  if (const auto found = unsound_in(e, results.splits, results.modes)) return found;
  const auto periodic = unsound_.find(e);
  return periodic == unsound_.end() ? std::nullopt : periodic->second;
}

std::optional<double> JobEvaluation::unsound_in(std::size_t e, const Periodic& periodic) const {
  if (const auto found = unsound_in(e, periodic.splits, periodic.modes)) return found;
  if (!periodic.published || sound(e, (*periodic.published)[e])) return std::nullopt;
  return (*periodic.published)[e];
}

std::optional<double> JobEvaluation::unsound_in(std::size_t e, const SplitResults& splits,
                                                const std::optional<ModeResults>& modes) const {
  for (const std::vector<EvalResult>& split : splits) {
    if (!split.empty() && split[e].tokens > 0 && !sound(e, split[e].loss)) return split[e].loss;
  }
  for (std::size_t m = 0; modes && m < kEvalModeNames.size(); ++m) {
    const double loss = modes->loss[e * kEvalModeNames.size() + m];
    if (modes_.evaluates(m) && !sound(e, loss)) return loss;
  }
  return std::nullopt;
}

bool JobEvaluation::sound(std::size_t e, double loss) const {
  return std::isfinite(std::exp(loss)) && loss <= job_.fused.train.diverged_above[e];
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
  if (!job_.labels.empty()) set_control(facts, *job_.labels[e], results.control, e);
  if (!results.steering.empty()) {
    set_steering(facts, axis_names(*job_.configs[e]), results.steering, e, job_.steps());
  }
  if (!results.neutral_costs.empty()) facts.set("control_neutral_cost", results.neutral_costs[e]);
  if (!results.bypass_costs.empty()) facts.set("flow_bypass_cost", results.bypass_costs[e]);
  if (results.modes) {
    set_modes(facts, *results.modes, job_.fused, e, job_.sampler.seq_len());
  }
}

}  // namespace depthgrid
