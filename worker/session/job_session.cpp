#include "worker/session/job_session.hpp"

#include <fmt/format.h>

#include <ATen/Context.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/session/cell_facts_builder.hpp"
#include "worker/session/final_weights.hpp"
#include "worker/session/probe_table.hpp"
#include "worker/session/team_state.hpp"
#include "worker/session/warm_start.hpp"

namespace depthgrid {

JobSession::JobSession(RunContext& run, SessionJob job, std::vector<ClaimedCell>& claims)
    : job_(run, std::move(job)),
      batches_(job_.batches()),
      objective_(job_, [&](const CellId& id) { return final_weights(run.store, run.plan, id); }),
      trainer_(objective_.get(), *job_.fused.arena, *job_.fused.optimizer, *batches_, run.sync,
               job_.cells, job_.fused.train),
      policy_(run.sweep.run, job_.steps()),
      early_stop_(job_.fused.train, job_.cells),
      recorder_(job_, policy_, early_stop_),
      evaluation_(job_, early_stop_, recorder_),
      stability_(job_, evaluation_.plan(), recorder_),
      probes_(make_probes(job_), [this](std::int64_t step) { return recorder_.that_made(step); },
              {.stopped =
                   [this](std::size_t e) {
                     return step_ < job_.steps() && job_.status(e) == CellStatus::Completed;
                   },
               .begins =
                   [this] {
                     job_.run.progress.phase("probing");
                     job_.run.watchdog.enter(WorkPhase::Probing);
                   },
               .took =
                   [this](const std::string& probe, double seconds,
                          const std::vector<std::size_t>& cells) {
                     job_.run.watchdog.beat();
                     recorder_.charge_probe(probe, seconds, cells);
                   }}),
      watches_(job_, probes_.watches()),
      cancels_(job_, recorder_),
      checkpoints_(job_, policy_, early_stop_, watches_, recorder_),
      step_(job_.job.first_step),
      running_(job_.cells.size()) {
  at::globalContext().setAllowTF32CuBLAS(job_.fused.train.precision == Precision::Tf32);
  std::vector<StartedFrom> started;
  if (step_ == 0) {
    started = warm_start(job_.configs, job_.fused.options, *job_.fused.arena,
                         [&](const CellId& id) { return final_weights(run.store, run.plan, id); });
  }
  std::vector<CellClock> clocks = restore(claims);
  if (!run.team.leads()) return;
  recorder_.open(claims, record_shape(), std::move(clocks), started);
  for (std::size_t e = 0; step_ > 0 && e < claims.size(); ++e) {
    if (const auto end = early_stop_.replay(e, claims[e].before, step_)) {
      recorder_.set_made(e, *end);
    }
  }
  watches_.attach(trainer_);
  // Each sees the effects of those before it; checkpoints follow all of them.
  services_.add(watches_);
  services_.add(recorder_);
  services_.add(cancels_);
  services_.add(stability_);
  services_.add(evaluation_);
  services_.add(probes_);
}

std::vector<CellClock> JobSession::restore(const std::vector<ClaimedCell>& claims) {
  std::vector<CellClock> clocks(job_.job.rows.size());
  if (step_ == 0) return clocks;
  std::vector<const LoadedCheckpoint*> states;
  for (const ClaimedCell& claim : claims) states.push_back(claim.state ? &*claim.state : nullptr);
  restore_cells(job_.fused, states, job_.run.sync);
  for (std::size_t e = 0; e < states.size(); ++e) {
    if (states[e] == nullptr) continue;
    clocks[e] = clock_of(*states[e]);
    watches_.restore(e, states[e]->numbers);
  }
  job_.fused.arena->refresh_shadow();
  return clocks;
}

RecordShape JobSession::record_shape() const {
  const ModelOptions& o = job_.fused.options;
  const EvalPlan& plan = evaluation_.plan();
  const ModeEvaluation& modes = evaluation_.modes();
  return {.cells = o.cells,
          .flows = has_alpha(o),
          .learned_scales = o.residual.kind != ScaleKind::Fixed ? o.depth_steps() : 0,
          .positions = plan.by_position() ? plan.positions() : 0,
          .published = job_.configs[0]->word("eval.protocol") == "published_1",
          .loss_parts = objective_.get().loss_parts(),
          .layers = modes.active() ? o.layers : 0,
          .series = probes_.series()};
}

void JobSession::announce() const {
  const auto alias = [&](std::size_t row) { return job_.run.sweep.cells[row].alias; };
  const std::vector<std::size_t>& rows = job_.job.rows;
  job_.run.progress.job_started(
      job_.job.id, rows, step_, job_.steps(),
      rows.size() == 1 ? alias(rows.front())
                       : fmt::format("{} … {}", alias(rows.front()), alias(rows.back())));
}

std::vector<std::string> JobSession::cell_ids() const {
  std::vector<std::string> out;
  for (const std::size_t row : job_.job.rows) out.push_back(job_.run.sweep.cells[row].id);
  return out;
}

JobSession::Turn JobSession::turn() {
  Turn mine = Turn::Next;
  if (stop_requested() || recorder_.silent()) {
    mine = Turn::Stop;
  } else if (job_.run.team.leads()) {
    // Also when cells have ended, which the other ranks do not know yet.
    const bool save = checkpoints_.due(step_) || job_.running() != running_;
    mine = save ? Turn::Save : Turn::Next;
  }
  const InPhase meets(job_.run.watchdog, meeting());
  return static_cast<Turn>(job_.run.sync.largest(static_cast<std::int64_t>(mine)));
}

/// The first rank evaluates, probes and writes while the others wait for it.
WorkPhase JobSession::meeting() const {
  return job_.run.team.leads() ? WorkPhase::Training : WorkPhase::Waiting;
}

void JobSession::agree_on_running() {
  const InPhase meets(job_.run.watchdog, meeting());
  Collective& team = job_.run.team.group();
  share_ends(team, job_.cells);
  running_ = job_.running();
  require_equal_parameters(team, *job_.fused.arena, step_);
}

SessionEnd JobSession::run() {
  const bool leads = job_.run.team.leads();
  GradientSync& sync = job_.run.sync;
  if (leads) announce();
  Watchdog& watchdog = job_.run.watchdog;
  watchdog.enter(WorkPhase::Training);
  services_.begin(step_);
  agree_on_running();
  // Only the first rank evaluates, so only it knows about early stops.
  const auto over = [&] {
    const InPhase meets(watchdog, meeting());
    return sync.largest(leads && !recorder_.any_active() ? 1 : 0) > 0;
  };
  const auto save = [&] {
    const InPhase writes(watchdog, WorkPhase::Checkpoint);
    checkpoints_.write(step_);
  };
  while (step_ < job_.steps() && !over()) {
    const Stopwatch clock;
    const StepReport report = trainer_.step(step_ + 1);
    services_.stepped({++step_, report, clock.seconds()});
    watchdog.enter(WorkPhase::Training);  // where a probe was the last
    watchdog.beat(step_);
    if (job_.run.fault.armed()) job_.run.fault.pass(step_, cell_ids());
    const Turn next = turn();
    if (next == Turn::Next) continue;
    agree_on_running();
    job_.fused.optimizer->collect_moments();
    if (leads && (next == Turn::Stop || checkpoints_.due(step_))) save();
    if (next == Turn::Stop) return stop();
  }
  agree_on_running();
  job_.fused.optimizer->collect_moments();
  return leads && !finish() ? stop() : SessionEnd::Done;
}

SessionEnd JobSession::stop() {
  if (const auto e = recorder_.silent()) {
    throw StorageError(
        recorder_.cell(*e).folder().string(),
        fmt::format("the heartbeat of {} could not be written for half of resources.lease, so "
                    "another process may soon take the cell; stopped after step {} with a "
                    "checkpoint: once the folder can be written, the same command goes on",
                    recorder_.cell(*e).cell().alias, step_));
  }
  recorder_.end_seams();
  abandon({AttemptOutcome::Preempted, ExitCode::TempFail, {}, 0, ""});
  if (job_.run.team.leads()) job_.run.progress.job_ended("stopped");
  return SessionEnd::Stopped;
}

bool JobSession::finish() {
  if (!recorder_.writes()) {  // diverged, or taken
    abandon({AttemptOutcome::Deposed, ExitCode::Done, {}, 0, ""});
    return true;
  }
  recorder_.end_seams();
  services_.end(step_);
  {
    const InPhase writes(job_.run.watchdog, WorkPhase::Checkpoint);
    checkpoints_.write(step_);
  }
  const auto results = evaluation_.final();
  if (!results) return false;
  for (std::size_t e = 0; e < recorder_.size(); ++e) {
    if (job_.status(e) == CellStatus::Diverged || job_.status(e) == CellStatus::Cancelled) continue;
    if (const auto loss = evaluation_.unsound(e, *results)) {
      recorder_.end_diverged(e, *loss, "final ");
      continue;
    }
    recorder_.finish_cell(e, CellStatus::Completed,
                          [&](CellFacts& facts) { evaluation_.set_final(facts, e, *results); });
  }
  stability_.log();
  return true;
}

}  // namespace depthgrid
