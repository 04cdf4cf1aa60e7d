#include "worker/session/session_recorder.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/base/version.hpp"
#include "models/cost_model.hpp"
#include "storage/cells/attempt_columns.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/process/provenance.hpp"
#include "worker/session/cell_facts_builder.hpp"
#include "worker/session/control_facts.hpp"

namespace depthgrid {
namespace {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return kNaN;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// Records what differs from earlier attempts: build, instruction sets, processor; number of ranks
/// and device, see require_exact_resume().
void warn_of_changes(CellRecorder& recorder, const ClaimedCell& claim, std::int64_t first,
                     int ranks, const DeviceChoice& choice) {
  const std::string device = kind_of(choice.device);
  if (first > 0 && !claim.before.attempts.empty()) {
    const AttemptInfo last = attempt_info(claim.before.attempts.back().attempt_json);
    const std::string& build = last.code_version;
    // The library chooses its products by the processor's model, too.
    const std::string here = fmt::format("{}, {}", choice.name, instruction_sets());
    const std::string there = fmt::format("{}, {}", last.device, last.instruction_sets);
    if (choice.device.is_cpu() && !last.instruction_sets.empty() && here != there) {
      recorder.event(first, EventKind::Warning, 0,
                     fmt::format("goes on with other instructions ({}) than it was trained with "
                                 "({}): the last bits of sums may differ from those of an "
                                 "undisturbed run",
                                 here, there));
    }
    if (!build.empty() && build != code_version()) {
      recorder.event(
          first, EventKind::Warning, 0,
          fmt::format("continues with build {}, started with {}", code_version(), build));
    }
  }
  if (!claim.state) return;
  const auto before = claim.state->numbers.find("ranks");
  if (before != claim.state->numbers.end() && static_cast<std::int64_t>(before->second) != ranks) {
    recorder.event(first, EventKind::TeamSizeChanged, ranks,
                   "another number of ranks sums gradients in another order");
  }
  const auto kind = claim.state->texts.find("device");
  if (kind != claim.state->texts.end() && kind->second != device) {
    recorder.event(
        first, EventKind::Warning, 0,
        fmt::format("goes on with device {}, was trained with {}", device, kind->second));
  }
}

}  // namespace

std::string attempt_json(const RunContext& run, const SessionJob& job) {
  return attempt_json(AttemptFacts{.job = job.id,
                                   .device = run.device.name,
                                   .cells = static_cast<std::int64_t>(job.rows.size()),
                                   .ranks = run.sync.ranks(),
                                   .threads = run.threads,
                                   .logs = run.logs});
}

SessionRecorder::SessionRecorder(const TrainedJob& job, const CheckpointPolicy& policy,
                                 const EarlyStop& early_stop)
    : job_(job),
      policy_(policy),
      early_stop_(early_stop),
      made_(job.job.rows.size(), job.job.first_step),
      seam_loss_(job.job.rows.size()),
      step_(job.job.first_step) {}

void SessionRecorder::open(std::vector<ClaimedCell>& claims, const RecordShape& shape,
                           std::vector<CellClock> clocks, const std::vector<StartedFrom>& started) {
  clocks_ = std::move(clocks);
  const std::string attempt = attempt_json(job_.run, job_.job);
  cells_.reserve(claims.size());
  for (std::size_t e = 0; e < claims.size(); ++e) {
    facts_.push_back(static_facts(job_.run, job_.run.sweep.cells[claims[e].row], job_.fused, e,
                                  *job_.data, job_.sampler));
    if (!job_.labels.empty()) set_labels(facts_.back(), *job_.labels[e], *job_.configs[e]);
  }
  for (std::size_t e = 0; e < claims.size(); ++e) {
    open_cell(e, claims[e], attempt, shape, e < started.size() ? started[e].line() : "");
  }
}

void SessionRecorder::open_cell(std::size_t e, ClaimedCell& claim, const std::string& attempt,
                                const RecordShape& shape, const std::string& started) {
  const std::int64_t first = job_.job.first_step;
  CellRecorder& recorder =
      cells_.emplace_back(job_.run.store, job_.run.plan, job_.run.plan.cells.at(claim.row),
                          std::move(claim.lease), first, attempt, shape);
  for (const std::string& reason : claim.rejected) {
    recorder.event(first, EventKind::CheckpointRejected, 0, reason);
  }
  for (const std::string& damage : claim.damages) {
    recorder.event(first, EventKind::Damage, 0, damage);
  }
  recorder.follow(claim.before);
  if (!started.empty()) recorder.event(first, EventKind::StartWeights, 0, started);
  const auto keep_warnings = [&](const std::vector<std::string>& warnings) {
    for (const std::string& text : warnings) recorder.event(first, EventKind::Warning, 0, text);
  };
  keep_warnings(job_.run.warnings);
  keep_warnings(job_.data->warnings);
  begin_seam(e, claim.before);
  warn_of_changes(recorder, claim, first, job_.run.sync.ranks(), job_.run.device);
}

void SessionRecorder::begin_seam(std::size_t e, const CellHistory& before) {
  const std::int64_t first = job_.job.first_step;
  const MergedRows* train = before.find("train");
  if (train == nullptr || train->rows.size() == 0) return;
  clocks_[e].lost += std::max(0.0, train->column("train_wall_time").back() - clocks_[e].wall);
  if (first > 0) seam_loss_[e] = kNaN;
  const auto at = std::ranges::find(train->rows.steps, first);
  if (at != train->rows.steps.end()) {
    seam_loss_[e] =
        train->column("train_loss")[static_cast<std::size_t>(at - train->rows.steps.begin())];
  }
}

void SessionRecorder::end_seam(std::size_t e, double loss) {
  if (!seam_loss_[e]) return;
  const std::int64_t first = job_.job.first_step;
  cells_[e].event(first, EventKind::ResumeSeam, loss - *seam_loss_[e],
                  fmt::format("goes on from step {}", first));
  seam_loss_[e].reset();
}

void SessionRecorder::end_seams() {
  for (std::size_t e = 0; e < cells_.size(); ++e) end_seam(e, kNaN);
}

/// Number of cells that have made a step.
std::size_t SessionRecorder::made_by(const StepReport& report) const {
  std::size_t out = 0;
  for (std::size_t e = 0; e < cells_.size(); ++e) {
    out += job_.running(e) || report.nonfinite[e] != 0 ? 1 : 0;
  }
  return out;
}

void SessionRecorder::act(const StepEvent& event) {
  const StepReport& report = event.report;
  const FusedModel& fused = job_.fused;
  step_ = event.step;
  step_seconds_.push_back(event.seconds / static_cast<double>(cells_.size()));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const double share =
      event.seconds / static_cast<double>(std::max<std::size_t>(made_by(report), 1));
  for (std::size_t e = 0; e < cells_.size(); ++e) {
    CellClock& clock = clocks_[e];
    const bool bad = report.nonfinite[e] != 0;
    if (!job_.running(e) && !bad) continue;
    clock.wall += event.seconds;
    clock.train += share;
    clock.device += share * job_.run.sync.ranks();
    made_[e] = step_;
    const std::vector<double> scales = fused.options.residual.kind == ScaleKind::Fixed
                                           ? std::vector<double>()
                                           : residual_scales(fused, e);
    cells_[e].train_row(step_,
                        {report, e, fused.train.loss_scale[e], job_.tokens(step_),
                         job_.sampler.epochs(step_), clock.wall, scales, flow_alpha(fused, e)});
    end_seam(e, report.loss[e]);
    if (bad) {
      end_diverged(e, report.loss[e]);
      continue;
    }
    low = std::min(low, report.loss[e]);
    high = std::max(high, report.loss[e]);
    cells_[e].snapshot(facts_[e]);
  }
  job_.run.progress.step(step_, low, high);
}

std::vector<CellRecorder*> SessionRecorder::that_made(std::int64_t step) {
  std::vector<CellRecorder*> out;
  for (std::size_t e = 0; e < cells_.size(); ++e) {
    out.push_back(made_[e] == step ? &cells_[e] : nullptr);
  }
  return out;
}

void SessionRecorder::charge(double CellClock::* part, double seconds,
                             const std::vector<std::size_t>& cells) {
  for (const std::size_t e : cells) {
    clocks_.at(e).*part += seconds / static_cast<double>(cells.size());
  }
}

void SessionRecorder::charge_probe(const std::string& probe, double seconds,
                                   const std::vector<std::size_t>& cells) {
  charge(&CellClock::probe, seconds, cells);
  for (const std::size_t e : cells) {
    clocks_.at(e).probes[probe] += seconds / static_cast<double>(cells.size());
  }
}

bool SessionRecorder::any_active() const {
  for (std::size_t e = 0; e < cells_.size(); ++e) {
    if (job_.running(e) && cells_[e].writes()) return true;
  }
  return false;
}

bool SessionRecorder::writes() const {
  return std::ranges::any_of(cells_, &CellRecorder::writes);
}

std::optional<std::size_t> SessionRecorder::silent() const {
  const auto at = std::ranges::find_if(cells_, &CellRecorder::silent);
  if (at == cells_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - cells_.begin());
}

CellFacts SessionRecorder::facts_so_far(std::size_t e) const {
  CellFacts facts = facts_[e];
  const CellClock& c = clocks_[e];
  const FusedModel& fused = job_.fused;
  const auto cells = static_cast<double>(job_.cells.size());
  const double tokens = job_.tokens(made_[e]);
  const std::int64_t rows = fused.train.batch / fused.train.accumulation;
  facts.set("cost_flops_total",
            training_flops_per_token(fused.options, rows, job_.sampler.seq_len(), e) * tokens);
  facts.set("cost_tokens_per_second", c.device > 0 ? tokens / c.device : kNaN);
  facts.set("cost_step_time_p50", quantile(step_seconds_, 0.5));
  facts.set("cost_step_time_p95", quantile(step_seconds_, 0.95));
  facts.set("cost_wall_time", c.train + c.eval + c.checkpoint + c.probe + c.lost / cells);
  facts.set("cost_device_time", c.device);
  facts.set("cost_device_time_lost", c.lost * job_.run.sync.ranks() / cells);
  facts.set("cost_eval_time", c.eval);
  facts.set("cost_checkpoint_time", c.checkpoint);
  facts.set("cost_probe_time", c.probe);
  if (!c.probes.empty()) {
    RowAxis axis{"probe", static_cast<std::int64_t>(c.probes.size()), {}, {}};
    std::vector<double> seconds;
    for (const auto& [probe, time] : c.probes) {
      axis.labels.push_back(probe);
      seconds.push_back(time);
    }
    facts.axes.push_back(std::move(axis));
    facts.set("cost_probe_time_each", std::move(seconds));
  }
  facts.set("cost_memory_peak", peak_device_memory_bytes(job_.run.device.device) / cells);
  facts.set("cost_memory_host", peak_memory_bytes());
  const std::vector<float> weights = host_row(fused.arena->values(), e);
  facts.set("weights_sha256", std::string_view(hex(sha256(std::as_bytes(std::span(weights))))));
  return facts;
}

void SessionRecorder::finish_cell(std::size_t e, CellStatus status,
                                  const std::function<void(CellFacts&)>& add) {
  CellFacts facts = facts_so_far(e);
  if (add) add(facts);
  const std::filesystem::path folder = cells_[e].folder();
  if (!cells_[e].finish(status, std::move(facts))) return;  // another process owns it now
  const std::vector<std::int64_t> kept = policy_.kept(early_stop_.lowest(e).improved, step_);
  for (const CheckpointFile& file : list_checkpoints(folder, cells_[e].fs())) {
    if (std::ranges::find(kept, file.step) != kept.end()) continue;
    const int error = cells_[e].fs().remove(file.file);
    if (error == 0 || error == ENOENT) continue;
    // The result is published: a file that is left does no harm.
    log(LogLevel::Warning, file.file.string() + ": " + std::strerror(error));
  }
}

void SessionRecorder::end_diverged(std::size_t e, double loss, std::string_view of) {
  const double bound = job_.fused.train.diverged_above[e];
  const std::string why =
      loss > bound
          ? fmt::format("{}loss {:.6g} is above train.diverged_above = {:.6g}", of, loss, bound)
      : std::isfinite(loss) && !std::isfinite(std::exp(loss))
          ? fmt::format("{}loss {:.6g} has no finite perplexity", of, loss)
      : of.empty() && std::isfinite(loss) &&
              job_.fused.options.gradient.mode == GradientMode::Reversible
          ? "gradient is not finite, as it is where the steps of the flow could not be undone "
            "(`reversible_error` above 1e-3): more `model.solver.steps`, or "
            "`model.gradient.mode: checkpoint`"
          : fmt::format("{}loss or gradient is not finite", of);
  cells_[e].event(made_[e], EventKind::Diverged, loss, why);
  finish_cell(e, CellStatus::Diverged,
              [&](CellFacts& facts) { facts.set("diverged_at", static_cast<double>(made_[e])); });
  job_.run.progress.cell_diverged(job_.job.rows[e], made_[e]);
}

void SessionRecorder::cancel_cell(std::size_t e) {
  end_seam(e, kNaN);
  cells_[e].cancel(step_);
}

void SessionRecorder::abandon(const AttemptProblem& problem) {
  for (CellRecorder& cell : cells_) cell.abandon(step_, problem);
}

}  // namespace depthgrid
