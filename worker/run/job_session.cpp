#include "worker/run/job_session.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/base/version.hpp"
#include "models/cost_model.hpp"
#include "storage/cells/attempt_columns.hpp"
#include "worker/process/provenance.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/run/cell_facts_builder.hpp"

namespace depthgrid {
namespace {

std::vector<const CellConfig*> configs_of(const Sweep& sweep,
                                          const std::vector<std::size_t>& rows) {
  std::vector<const CellConfig*> out;
  for (const std::size_t r : rows) out.push_back(&sweep.cells.at(r).config);
  return out;
}

std::vector<CellId> ids_of(const Sweep& sweep, const std::vector<std::size_t>& rows) {
  std::vector<CellId> out;
  for (const std::size_t r : rows) out.push_back(sweep.cells.at(r).id);
  return out;
}

Sampler sampler_of(const CellConfig& c, const Dataset& data) {
  return {sampler_kind(c.word("data.sampler")), data.train().size(), c.integer("data.seq_len"),
          c.integer("train.batch_size")};
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNaN;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

}  // namespace

std::string attempt_json(const RunContext& run, const SessionJob& job) {
  return attempt_json(AttemptFacts{.job = job.id,
                                   .device = run.device_name,
                                   .cells = static_cast<std::int64_t>(job.rows.size()),
                                   .ranks = run.sync.ranks(),
                                   .threads = run.threads,
                                   .logs = run.logs});
}

JobSession::JobSession(const RunContext& run, SessionJob job, std::vector<ClaimedCell>& claims)
    : run_(run),
      job_(std::move(job)),
      configs_(configs_of(run.sweep, job_.rows)),
      data_(run.data.open(*configs_[0])),
      fused_(configs_, run.device),
      sampler_(sampler_of(*configs_[0], *data_)),
      batches_(data_->train(), sampler_, fused_.train.data_seed),
      cells_(ids_of(run.sweep, job_.rows), run.device),
      trainer_(*fused_.language, *fused_.arena, *fused_.optimizer, batches_, run.sync, cells_,
               fused_.train),
      evals_(*configs_[0], *data_, fused_.options.cells),
      modes_(*data_, evals_, *fused_.model, *fused_.language,
             configured_modes(*configs_[0], *fused_.model)),
      policy_(run.sweep.run, fused_.train.steps),
      clocks_(job_.rows.size()),
      lowest_(job_.rows.size()),
      stability_(*fused_.model, fused_.options),
      made_(job_.rows.size(), job_.first_step),
      seam_loss_(job_.rows.size()),
      step_(job_.first_step) {
  at::globalContext().setAllowTF32CuBLAS(fused_.train.precision == Precision::Tf32);
  if (job_.first_step == 0) {
    started_ = load_start_weights(
        configs_, fused_.options, *fused_.arena,
        [this](const CellId& id) { return source_weights(run_.store, run_.plan, id); });
  }
  restore(claims);
  for (std::int64_t s = 0; job_.first_step > 0 && s <= job_.first_step; ++s) {
    evaluations_ += evals_.due(s, fused_.train.steps) ? 1 : 0;
  }
  if (run_.leads()) open_recorders(claims);
}

void JobSession::restore(const std::vector<ClaimedCell>& claims) {
  for (std::size_t e = 0; e < claims.size(); ++e) {
    if (claims[e].state) clocks_[e] = restore_cell(fused_, e, *claims[e].state);
  }
  if (run_.sync.ranks() > 1 && job_.first_step > 0) share_state(fused_, run_.team);
  fused_.arena->refresh_shadow();
}

void JobSession::open_recorders(std::vector<ClaimedCell>& claims) {
  const bool learned = fused_.options.residual.kind != ScaleKind::Fixed;
  const RecordShape shape{.cells = fused_.options.cells,
                          .learned_scales = learned ? fused_.options.depth_steps() : 0,
                          .positions = evals_.by_position() ? evals_.positions() : 0,
                          .published = configs_[0]->word("eval.protocol") == "published_1",
                          .loss_parts = fused_.language->loss_parts(),
                          .layers = modes_.active() ? fused_.options.layers : 0,
                          .probes = modes_.statistics()};
  const std::string attempt = attempt_json(run_, job_);
  recorders_.reserve(claims.size());
  for (std::size_t e = 0; e < claims.size(); ++e) {
    facts_.push_back(
        static_facts(run_, run_.sweep.cells[claims[e].row], fused_, e, *data_, sampler_));
  }
  for (std::size_t e = 0; e < claims.size(); ++e) open_recorder(e, claims[e], attempt, shape);
}

void JobSession::open_recorder(std::size_t e, ClaimedCell& claim, const std::string& attempt,
                               const RecordShape& shape) {
  const std::int64_t first = job_.first_step;
  CellRecorder& recorder =
      recorders_.emplace_back(run_.store, run_.plan, run_.plan.cells.at(claim.row),
                              std::move(claim.lease), first, attempt, shape);
  for (const std::string& reason : claim.rejected) {
    recorder.event(first, EventKind::CheckpointRejected, 0, reason);
  }
  if (e < started_.size() && !started_[e].text.empty()) {
    recorder.event(first, EventKind::StartWeights, 0, started_[e].line());
  }
  for (const std::string& warning : run_.warnings) {
    recorder.event(first, EventKind::Warning, 0, warning);
  }
  const CellHistory& before = claim.before;
  if (const MergedRows* train = before.find("train"); train != nullptr && train->rows.size() > 0) {
    clocks_[e].lost += std::max(0.0, train->column("train_wall_time").back() - clocks_[e].wall);
    const auto at = std::ranges::find(train->rows.steps, first);
    if (first > 0) seam_loss_[e] = kNaN;
    if (at != train->rows.steps.end()) {
      seam_loss_[e] =
          train->column("train_loss")[static_cast<std::size_t>(at - train->rows.steps.begin())];
    }
  }
  if (first > 0 && !before.attempts.empty()) {
    const std::string build = attempt_info(before.attempts.back().attempt_json).code_version;
    if (!build.empty() && build != code_version()) {
      recorder.event(first, EventKind::Warning, 0,
                     fmt::format("goes on with build {}, began with {}", code_version(), build));
    }
  }
  if (claim.state) {
    const auto ranks = claim.state->numbers.find("ranks");
    if (ranks != claim.state->numbers.end() &&
        static_cast<std::int64_t>(ranks->second) != run_.sync.ranks()) {
      recorder.event(first, EventKind::TeamSizeChanged, run_.sync.ranks(),
                     "another number of ranks sums gradients in another order");
    }
  }
  if (first > 0) replay_evaluations(e, before);
}

void JobSession::replay_evaluations(std::size_t e, const CellHistory& before) {
  const MergedRows* eval = before.find("eval");
  if (eval == nullptr) return;
  const std::vector<double> loss = eval->column("eval_loss");
  const std::vector<double> tokens = eval->column("eval_tokens");
  for (std::size_t i = 0; i < eval->rows.size(); ++i) {
    const std::int64_t at = eval->rows.steps[i];
    if (at > job_.first_step) break;
    if (!(tokens[i * 4 + 1] > 0)) continue;  // no dev split
    SplitResults seen;
    seen[1].resize(e + 1);
    seen[1][e].loss = loss[i * 4 + 1];
    stop_early(at, seen);
    if (cells_.status(static_cast<std::int64_t>(e)) != CellStatus::Running) {
      made_[e] = at;
      return;
    }
  }
}

bool JobSession::any_active() const {
  for (std::int64_t e = 0; e < cells_.size(); ++e) {
    const bool ours = recorders_.empty() || recorders_[static_cast<std::size_t>(e)].writes();
    if (cells_.status(e) == CellStatus::Running && ours) return true;
  }
  return false;
}

SessionEnd JobSession::run() {
  const std::int64_t steps = fused_.train.steps;
  if (run_.leads()) {
    const CellPlan& first = run_.sweep.cells[job_.rows.front()];
    const std::string label =
        job_.rows.size() == 1
            ? first.alias
            : fmt::format("{} … {}", first.alias, run_.sweep.cells[job_.rows.back()].alias);
    run_.progress.job_started(job_.id, cells_.size(), job_.first_step, steps, label);
    if (step_ == 0 && evals_.due(0, steps)) {
      evaluate(0);
    } else {
      watch_stability();
    }
  }
  // Only the first rank evaluates, so only it knows of early stops.
  const auto over = [&] { return run_.sync.largest(run_.leads() && !any_active() ? 1 : 0) > 0; };
  while (step_ < steps && !over()) {
    const Stopwatch clock;
    const StepReport report = trainer_.step(step_ + 1);
    ++step_;
    bool best = false;
    if (run_.leads()) {
      record(step_, report, clock.seconds());
      if (evals_.due(step_, steps)) best = evaluate(step_) && policy_.keeps_best();
    }
    const bool stop = run_.sync.largest(stop_requested() ? 1 : 0) > 0;
    if (run_.leads() && step_ < steps && (stop || best || policy_.due(step_))) checkpoint(step_);
    if (stop) {
      if (step_ == steps && run_.leads()) checkpoint(step_);
      return this->stop();
    }
  }
  return run_.leads() && !finish() ? stop() : SessionEnd::Done;
}

SessionEnd JobSession::stop() {
  for (std::size_t e = 0; e < recorders_.size(); ++e) seam(e, kNaN);
  abandon({AttemptOutcome::Preempted, ExitCode::TempFail, {}, 0, ""});
  if (run_.leads()) run_.progress.job_ended("stopped");
  return SessionEnd::Stopped;
}

void JobSession::seam(std::size_t e, double loss) {
  if (!seam_loss_[e]) return;
  recorders_[e].event(job_.first_step, EventKind::ResumeSeam, loss - *seam_loss_[e],
                      fmt::format("goes on from step {}", job_.first_step));
  seam_loss_[e].reset();
}

void JobSession::record(std::int64_t step, const StepReport& report, double seconds) {
  step_seconds_.push_back(seconds / static_cast<double>(cells_.size()));
  const double tokens = static_cast<double>(step * fused_.train.batch * sampler_.seq_len());
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t e = 0; e < recorders_.size(); ++e) {
    CellClock& clock = clocks_[e];
    const bool bad = report.nonfinite[e] != 0;
    const bool running = cells_.status(static_cast<std::int64_t>(e)) == CellStatus::Running;
    if (!running && !bad) continue;
    clock.wall += seconds;
    clock.device += seconds * run_.sync.ranks() / static_cast<double>(cells_.size());
    made_[e] = step;
    const std::vector<double> scales = fused_.options.residual.kind == ScaleKind::Fixed
                                           ? std::vector<double>()
                                           : residual_scales(fused_, e);
    recorders_[e].train_row(step, e, report, fused_.train.loss_scale[e],
                            {tokens, sampler_.epochs(step), clock.wall}, scales);
    seam(e, report.loss[e]);
    if (bad) {
      recorders_[e].event(step, EventKind::Diverged, report.loss[e],
                          "loss or gradient is not finite or beyond train.diverged_above");
      finish_cell(e, CellStatus::Diverged, {});
      continue;
    }
    low = std::min(low, report.loss[e]);
    high = std::max(high, report.loss[e]);
    recorders_[e].snapshot(facts_[e]);
  }
  run_.progress.step(step, low, high);
}

void JobSession::watch_stability() {
  for (const auto& [e, radius] : stability_.look()) {
    if (cells_.status(static_cast<std::int64_t>(e)) != CellStatus::Running) continue;
    recorders_[e].event(step_, EventKind::Warning, radius,
                        fmt::format("state-space layer: spectral radius {:.6f} at some depth: its "
                                    "recurrence does not forget",
                                    radius));
  }
}

bool JobSession::evaluate(std::int64_t step) {
  const Stopwatch clock;
  watch_stability();
  run_.progress.phase("evaluating");
  modes_.calibrate(false);
  const SplitResults results = evals_.periodic(*fused_.language);
  const std::optional<ModeResults> modes =
      modes_.active() ? modes_.evaluate(false, {}) : std::nullopt;
  const auto published = evals_.published(*fused_.language, evaluations_++);
  for (std::size_t e = 0; e < recorders_.size(); ++e) {
    if (cells_.status(static_cast<std::int64_t>(e)) != CellStatus::Running) continue;
    recorders_[e].eval_row(step, e, results, published, modes);
    if (modes) recorders_[e].probe_row(step, e, *modes);
    clocks_[e].eval += clock.seconds();
  }
  return stop_early(step, results);
}

bool JobSession::stop_early(std::int64_t step, const SplitResults& results) {
  bool improved = false;
  const std::vector<EvalResult>& dev = results[static_cast<std::size_t>(Split::Dev)];
  for (std::size_t e = 0; e < dev.size(); ++e) {
    const auto cell = static_cast<std::int64_t>(e);
    if (cells_.status(cell) != CellStatus::Running || dev[e].loss == 0) continue;
    const LowestLosses::Verdict verdict =
        lowest_.see(e, step, dev[e].loss, fused_.train.min_delta[e], fused_.train.patience[e]);
    if (verdict == LowestLosses::Verdict::Better) improved = true;
    if (verdict != LowestLosses::Verdict::OutOfPatience) continue;
    if (e < recorders_.size() && step > job_.first_step) {  // else it was said before
      recorders_[e].event(step, EventKind::EarlyStop, lowest_.best(e),
                          fmt::format("no better than at step {}", lowest_.improved(e).back()));
    }
    cells_.retire(cell, CellStatus::Completed);
  }
  return improved;
}

void JobSession::checkpoint(std::int64_t step) {
  const Stopwatch clock;
  for (std::size_t e = 0; e < recorders_.size(); ++e) {
    if (!recorders_[e].writes() ||
        cells_.status(static_cast<std::int64_t>(e)) == CellStatus::Diverged) {
      continue;
    }
    recorders_[e].sync();
    const CellCheckpoint state(fused_, e, clocks_[e], run_.sync.ranks());
    const CheckpointData data = state.data(step, config_digest(*configs_[e]));
    const std::vector<std::int64_t> kept = policy_.kept(lowest_.improved(e), step);
    publish_checkpoint(recorders_[e].folder(), recorders_[e].generation(), data,
                       policy_.keep_last(), kept);
    recorders_[e].event(step, EventKind::Checkpoint, static_cast<double>(step), "");
  }
  for (CellClock& c : clocks_) c.checkpoint += clock.seconds();
  policy_.written();
}

CellFacts JobSession::facts_so_far(std::size_t e) const {
  CellFacts facts = facts_[e];
  const CellClock& c = clocks_[e];
  const double tokens = static_cast<double>(made_[e] * fused_.train.batch * sampler_.seq_len());
  const double p50 = quantile(step_seconds_, 0.5);
  const std::int64_t rows = fused_.train.batch / fused_.train.accumulation;
  facts.set("cost_flops_total",
            training_flops_per_token(fused_.options, rows, sampler_.seq_len(), e) * tokens);
  facts.set("cost_tokens_per_second", c.device > 0 ? tokens / c.device : kNaN);
  facts.set("cost_step_time_p50", p50);
  facts.set("cost_step_time_p95", quantile(step_seconds_, 0.95));
  facts.set("cost_wall_time", c.wall + c.eval + c.checkpoint + c.lost);
  facts.set("cost_device_time", c.device);
  facts.set("cost_device_time_lost",
            c.lost * run_.sync.ranks() / static_cast<double>(cells_.size()));
  facts.set("cost_eval_time", c.eval);
  facts.set("cost_checkpoint_time", c.checkpoint);
  facts.set("cost_memory_peak",
            peak_device_memory_bytes(run_.device) / static_cast<double>(cells_.size()));
  facts.set("cost_memory_host", peak_memory_bytes());
  const std::vector<float> weights = host_row(fused_.arena->values(), e);
  facts.set("weights_sha256", std::string_view(hex(sha256(std::as_bytes(std::span(weights))))));
  return facts;
}

void JobSession::finish_cell(std::size_t e, CellStatus status, const SplitResults& final_results,
                             const std::optional<ModeResults>& modes) {
  CellFacts facts = facts_so_far(e);
  if (status == CellStatus::Completed) {
    const auto column = [&](const char* name, auto value, double absent) {
      std::vector<double> out;
      for (const std::vector<EvalResult>& split : final_results) {
        out.push_back(split.empty() ? absent : static_cast<double>(value(split[e])));
      }
      facts.set(name, out);
    };
    column("final_loss", [](const EvalResult& r) { return r.loss; }, kNaN);
    column("final_loss_error", [](const EvalResult& r) { return r.error; }, kNaN);
    column("final_tokens", [](const EvalResult& r) { return r.tokens; }, -1);
    column("final_bits_per_byte", [](const EvalResult& r) { return r.bits_per_byte; }, kNaN);
    column("final_perplexity", [](const EvalResult& r) { return r.perplexity; }, kNaN);
  }
  if (modes) set_modes(facts, *modes, fused_, e, sampler_.seq_len());
  const std::filesystem::path folder = recorders_[e].folder();
  if (!recorders_[e].finish(status, std::move(facts))) return;  // its checkpoints are another's now
  const std::vector<std::int64_t> kept = policy_.kept(lowest_.improved(e), step_);
  for (const CheckpointFile& file : list_checkpoints(folder)) {
    if (std::ranges::find(kept, file.step) != kept.end()) continue;
    std::error_code stays;  // the result is there: a file too many does no harm
    std::filesystem::remove(file.file, stays);
    if (stays) log(LogLevel::Warning, file.file.string() + ": " + stays.message());
  }
}

bool JobSession::finish() {
  if (std::ranges::none_of(recorders_, &CellRecorder::writes)) {  // diverged, or taken
    abandon({AttemptOutcome::Deposed, ExitCode::Done, {}, 0, ""});
    return true;
  }
  for (std::size_t e = 0; e < recorders_.size(); ++e) seam(e, kNaN);
  watch_stability();
  checkpoint(step_);
  run_.progress.phase("final evaluation");
  const Stopwatch clock;
  modes_.calibrate(true);
  const auto results = evals_.final(*fused_.language, stop_requested);
  if (!results) return false;
  const std::optional<ModeResults> modes =
      modes_.active() ? modes_.evaluate(true, stop_requested) : std::nullopt;
  if (modes_.active() && !modes) return false;
  for (std::size_t e = 0; e < recorders_.size(); ++e) {
    if (cells_.status(static_cast<std::int64_t>(e)) == CellStatus::Diverged) continue;
    clocks_[e].eval += clock.seconds();
    finish_cell(e, CellStatus::Completed, *results, modes);
  }
  stability_.log();
  return true;
}

void JobSession::abandon(const AttemptProblem& problem) {
  for (CellRecorder& recorder : recorders_) recorder.abandon(step_, problem);
}

}  // namespace depthgrid
