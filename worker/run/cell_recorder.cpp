#include "worker/run/cell_recorder.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/cells/cell_history.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kTrain = 0, kEval = 1, kProbe = 2;
constexpr double kSnapshotSeconds = 30, kSnapshotShare = 0.002;
const auto kGroups = static_cast<std::int64_t>(kParameterGroupCount);

std::vector<RowKind> row_kinds(const RecordShape& shape) {
  RowKind train{"train",
                {{"train_loss"},
                 {"train_loss_total"},
                 {"train_learning_rate"},
                 {"train_grad_norm"},
                 {"train_grad_norm_clipped"},
                 {"train_clip_factor"},
                 {"train_grad_norm_group", kGroups},
                 {"train_grad_norm_group_clipped", kGroups},
                 {"train_tokens"},
                 {"train_epoch"},
                 {"train_wall_time"},
                 {"train_loss_scale"},
                 {"train_nonfinite"},
                 {"train_update_norm"},
                 {"train_parameter_norm"}}};
  for (const std::string_view part : shape.loss_parts) {
    train.columns.push_back({"train_loss_" + std::string(part)});
  }
  if (shape.learned_scales > 0) train.columns.push_back({"residual_scale", shape.learned_scales});
  RowKind eval{"eval",
               {{"eval_loss", 4},
                {"eval_loss_error", 4},
                {"eval_tokens", 4},
                {"eval_perplexity", 4},
                {"eval_bits_per_byte", 4},
                {"eval_accuracy", 4}}};
  if (shape.positions > 0) eval.columns.push_back({"eval_loss_position", 4 * shape.positions});
  if (shape.published) eval.columns.push_back({"eval_loss_published"});
  if (shape.layers == 0) return {train, eval};
  const auto modes = static_cast<std::int64_t>(kEvalModeNames.size());
  eval.columns.push_back({"eval_loss_mode", modes});
  eval.columns.push_back({"eval_executed_share", modes});
  eval.columns.push_back({"eval_mismatch_gap"});
  RowKind probe{"probe", {{"routing_rate", shape.layers * modes}}};
  for (const std::string_view name : shape.probes) {
    probe.columns.push_back({std::string(name), shape.layers});
  }
  return {train, eval, probe};
}

}  // namespace

CellRecorder::CellRecorder(const Store& store, const StoredPlan& plan, const StoredCell& cell,
                           Lease lease, std::int64_t first_step, const std::string& attempt,
                           const RecordShape& shape)
    : store_(store),
      plan_(plan),
      cell_(cell),
      lease_(std::move(lease)),
      shape_(shape),
      journal_(store.cell_dir(cell.id) / generation_name("journal", lease_.generation()),
               {.generation = lease_.generation(),
                .first_step = first_step,
                .kinds = row_kinds(shape),
                .attempt_json = attempt}) {}

void CellRecorder::train_row(std::int64_t step, std::size_t e, const StepReport& report,
                             double loss_scale, const Clocks& clocks,
                             const std::vector<double>& learned_scales) {
  if (!writes()) return;
  const GradientNorms& n = report.optimizer.norms;
  row_ = {report.loss[e], report.total[e],   report.optimizer.lr[e],
          n.norm[e],      n.norm_clipped[e], n.factor[e]};
  const auto groups = [&](const std::vector<double>& v) {
    const auto from = v.begin() + static_cast<std::ptrdiff_t>(e * kParameterGroupCount);
    row_.insert(row_.end(), from, from + kGroups);
  };
  groups(n.group_norm);
  groups(n.group_norm_clipped);
  const UpdateNorms& u = report.optimizer.update;
  row_.insert(row_.end(),
              {clocks.tokens, clocks.epoch, clocks.wall, loss_scale,
               static_cast<double>(report.nonfinite[e]), u.update_norm[e], u.parameter_norm[e]});
  for (const std::vector<double>& part : report.parts) row_.push_back(part[e]);
  row_.insert(row_.end(), learned_scales.begin(), learned_scales.end());
  journal_.append(kTrain, step, row_);
}

void CellRecorder::eval_row(std::int64_t step, std::size_t e, const SplitResults& results,
                            const std::optional<std::vector<double>>& published,
                            const std::optional<ModeResults>& modes) {
  if (!writes()) return;
  row_.clear();
  const auto column = [&](auto value) {
    for (const std::vector<EvalResult>& split : results) {
      row_.push_back(split.empty() ? kNaN : static_cast<double>(value(split[e])));
    }
  };
  column([](const EvalResult& r) { return r.loss; });
  column([](const EvalResult& r) { return r.error; });
  column([](const EvalResult& r) { return r.tokens; });
  column([](const EvalResult& r) { return r.perplexity; });
  column([](const EvalResult& r) { return r.bits_per_byte; });
  column([](const EvalResult& r) { return r.accuracy; });
  if (shape_.positions > 0) {
    for (const std::vector<EvalResult>& split : results) {
      if (split.empty()) {
        row_.insert(row_.end(), static_cast<std::size_t>(shape_.positions), kNaN);
      } else {
        row_.insert(row_.end(), split[e].by_position.begin(), split[e].by_position.end());
      }
    }
  }
  if (shape_.published) row_.push_back(published ? (*published)[e] : kNaN);
  if (modes) {
    add_cell(modes->loss, e);
    add_cell(modes->executed, e);
    row_.push_back(modes->mismatch[e]);
  }
  journal_.append(kEval, step, row_);
}

void CellRecorder::add_cell(const std::vector<double>& values, std::size_t e) {
  const auto width = static_cast<std::ptrdiff_t>(values.size()) / shape_.cells;
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(e) * width;
  row_.insert(row_.end(), from, from + width);
}

void CellRecorder::probe_row(std::int64_t step, std::size_t e, const ModeResults& modes) {
  if (!writes()) return;
  row_.clear();
  add_cell(modes.rate, e);
  for (const RoutingStatistic& s : modes.statistics) add_cell(s.values, e);
  journal_.append(kProbe, step, row_);
}

void CellRecorder::event(std::int64_t step, EventKind kind, double value,
                         const std::string& message) {
  if (writes()) journal_.event(step, kind, value, message);
}

void CellRecorder::sync() {
  if (writes()) journal_.sync();
}

void CellRecorder::snapshot(const CellFacts& facts) {
  const double wait = std::max(
      kSnapshotSeconds, snapshot_seconds_ * static_cast<double>(shape_.cells) / kSnapshotShare);
  if (!writes() || since_snapshot_.seconds() < wait) return;
  const Stopwatch cost;
  const CellHistory history = read_history(folder());
  CellFacts all = facts;
  add_history_facts(all, history);
  publish_metrics(folder(), {cell_, plan_, history, CellStatus::Running, all});
  snapshot_seconds_ = cost.seconds();
  since_snapshot_ = Stopwatch();
}

void CellRecorder::abandon(std::int64_t step, const AttemptProblem& problem) {
  if (writes()) {
    if (problem.kind) journal_.event(step, *problem.kind, problem.value, problem.message);
    journal_.end(problem.outcome, static_cast<int>(problem.code));
    journal_.sync();
  } else if (!ended_) {
    end_deposed();
  }
  ended_ = true;
  lease_.release();
}

void CellRecorder::end_deposed() {
  journal_.event(0, EventKind::LeaseLost, 0, "another process has taken the cell");
  journal_.end(AttemptOutcome::Deposed, 0);
  log(LogLevel::Warning, cell_.alias + ": another process has taken this cell; its result counts");
}

bool CellRecorder::finish(CellStatus status, CellFacts facts) {
  const bool ours = !ended_ && !lease_.check_deposed();
  if (ours) {
    const bool diverged = status == CellStatus::Diverged;
    journal_.end(diverged ? AttemptOutcome::Diverged : AttemptOutcome::Done, 0);
    journal_.sync();
    const CellHistory history = read_history(folder());
    if (history.replay_mismatches > 0) {
      log(LogLevel::Warning,
          fmt::format("{}: {} of {} replayed steps differ from the attempt before", cell_.alias,
                      history.replay_mismatches, history.replayed_steps));
    }
    add_history_facts(facts, history);
    publish_result(folder(), {cell_, plan_, history, status, std::move(facts)});
  } else if (!ended_) {
    end_deposed();
  }
  ended_ = true;
  lease_.release();
  return ours;
}

void add_history_facts(CellFacts& facts, const CellHistory& history) {
  if (const MergedRows* train = history.find("train"); train != nullptr && train->rows.size() > 0) {
    const std::vector<double> loss = train->column("train_loss");
    const std::size_t n = std::min<std::size_t>(50, loss.size());
    double sum = 0;
    for (std::size_t i = loss.size() - n; i < loss.size(); ++i) sum += loss[i];
    facts.set("train_loss_last50", sum / static_cast<double>(n));
    const std::vector<double> bad = train->column("train_nonfinite");
    const auto first = std::ranges::find_if(bad, [](double flag) { return flag != 0; });
    facts.set("diverged_at",
              first == bad.end()
                  ? -1.0
                  : static_cast<double>(
                        train->rows.steps[static_cast<std::size_t>(first - bad.begin())]));
    facts.set("stopped_at", static_cast<double>(train->rows.steps.back()));
  }
  if (const MergedRows* eval = history.find("eval"); eval != nullptr && eval->rows.size() > 0) {
    const std::vector<double> loss = eval->column("eval_loss");
    std::vector<double> best(4, kNaN), at(4, -1);
    for (std::size_t i = 0; i < eval->rows.size(); ++i) {
      for (std::size_t s = 0; s < 4; ++s) {
        const double value = loss[i * 4 + s];
        if (std::isnan(value) || value >= best[s]) continue;
        best[s] = value;
        at[s] = static_cast<double>(eval->rows.steps[i]);
      }
    }
    facts.set("best_loss", best);
    facts.set("best_step", at);
  }
}

}  // namespace depthgrid
