#include "worker/eval/mode_evaluation.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "core/data/eval_batches.hpp"
#include "models/calibration.hpp"

namespace depthgrid {

std::vector<DeclaredMode> configured_modes(const CellConfig& config, const Model& model) {
  std::vector<DeclaredMode> out;
  if (model.options().routing.layers.empty()) return out;
  const std::vector<std::string> wanted = config.words("eval.modes");
  const std::vector<std::string> deciders = config.words("eval.deciders");
  const std::vector<DeclaredMode> all = model.family().modes();
  const bool chooses = std::ranges::count(all, ExecutionMode::Student, &DeclaredMode::mode) > 1;
  for (const DeclaredMode& mode : all) {
    const bool decides =
        !chooses || !mode.decider || std::ranges::count(deciders, name_of(*mode.decider)) > 0;
    if (std::ranges::count(wanted, name_of(mode.mode)) > 0 && decides) out.push_back(mode);
  }
  return out;
}

std::vector<double> executed_shares(const ExecutedCount& count, std::int64_t cell) {
  if (!count.executed.defined()) return {};
  const at::Tensor row = (count.executed[cell] / static_cast<double>(count.tokens)).contiguous();
  return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
}

double dynamic_share(const RoutingOptions& o, const std::vector<double>& shares) {
  if (shares.empty() || o.layers.empty()) return kNaN;
  double sum = 0;
  for (const std::int64_t layer : o.layers) sum += shares[static_cast<std::size_t>(layer)];
  return sum / static_cast<double>(o.layers.size());
}

ModeEvaluation::ModeEvaluation(const Dataset& data, const EvalPlan& plan, const Model& model,
                               CellLanguageModel& language, std::vector<DeclaredMode> modes)
    : data_(data),
      plan_(plan),
      model_(model),
      language_(language),
      modes_(model.options().routing.layers.empty() ? std::vector<DeclaredMode>()
                                                    : std::move(modes)) {}

std::vector<at::Tensor> ModeEvaluation::held_out(bool final) const {
  const Split split = data_.split(Split::Dev).size() > 1 ? Split::Dev : Split::Train;
  const TokenStream& stream = data_.split(split);
  const EvalWindows periodic = plan_.mode_windows(split, false);
  const std::int64_t most = std::max<std::int64_t>(
      1, model_.options().routing.calibration_tokens / std::max<std::int64_t>(1, periodic.seq_len));
  const EvalWindows windows = spaced_windows(
      final ? all_windows(stream.size(), periodic.seq_len, std::nullopt) : periodic, most);
  const EvalBatches batches(stream, windows, plan_.batch_size());
  std::vector<at::Tensor> out;
  for (std::int64_t b = 0; b < batches.size(); ++b) {
    const EvalBatch batch = batches.batch(b);
    out.push_back(batch.tokens.narrow(1, 0, batch.length));
  }
  return out;
}

void ModeEvaluation::calibrate(bool final) {
  const RoutingOptions& o = model_.options().routing;
  default_ = {};
  if (o.layers.empty()) return;
  const std::vector<at::Tensor> texts = held_out(final);
  const auto wants = [&](ExecutionMode mode, Decider decider) {
    return std::ranges::any_of(modes_, [&](const DeclaredMode& m) {
      return m.mode == mode && m.decider.value_or(decider) == decider;
    });
  };
  if (o.decider == Decider::Calibrated || wants(ExecutionMode::Student, Decider::Calibrated)) {
    student_ = calibrated_thresholds(model_, texts, Execution{.mode = ExecutionMode::Student});
  }
  if (wants(ExecutionMode::TeacherThreshold, Decider::Calibrated)) {
    teacher_ =
        calibrated_thresholds(model_, texts, Execution{.mode = ExecutionMode::TeacherThreshold});
  }
  language_.execution = Execution{.mode = ExecutionMode::Student, .thresholds = student_};
}

Execution ModeEvaluation::execution(const DeclaredMode& mode) const {
  const bool teacher = mode.mode == ExecutionMode::TeacherThreshold;
  return {.mode = mode.mode, .decider = mode.decider, .thresholds = teacher ? teacher_ : student_};
}

bool ModeEvaluation::is_default(const DeclaredMode& mode) const {
  const Decider own = model_.options().routing.decider;
  return mode.mode == ExecutionMode::Student && mode.decider.value_or(own) == own;
}

bool ModeEvaluation::evaluates(std::size_t mode) const {
  return std::ranges::any_of(modes_, [mode](const DeclaredMode& m) {
    return label_index(kEvalModeNames, m.name) == mode;
  });
}

SplitDone ModeEvaluation::listener(bool final) {
  if (!active() || std::ranges::none_of(modes_, [&](const auto& m) { return is_default(m); })) {
    return {};
  }
  const auto counted = [this] {
    ExecutedCount out = language_.executed;
    if (out.executed.defined()) out.executed = out.executed.clone();  // it goes on counting
    return out;
  };
  return [this, final, counted, before = counted()](Split split,
                                                    const std::vector<EvalResult>& r) mutable {
    ExecutedCount now = counted();
    if (split == Split::Valid && !r.empty() &&
        plan_.windows(split, final) == plan_.mode_windows(split, final)) {
      default_ = {r, {now.executed, now.tokens - before.tokens}};
      if (before.executed.defined()) default_.executed.executed = now.executed - before.executed;
    }
    before = std::move(now);
  };
}

ModeEvaluation::ModeScores ModeEvaluation::scores(const DeclaredMode& mode, bool final,
                                                  const std::function<bool()>& stop) const {
  if (is_default(mode) && !default_.results.empty()) return default_;
  CellLanguageModel model(model_, {});
  model.execution = execution(mode);
  ModeScores out;
  out.results =
      depthgrid::evaluate(model, model_.options().cells, data_.valid(),
                          plan_.mode_windows(Split::Valid, final), plan_.batch_size(), stop);
  out.executed = model.executed;
  return out;
}

std::optional<ModeResults> ModeEvaluation::evaluate(bool final,
                                                    const std::function<bool()>& stop) const {
  const ModelOptions& o = model_.options();
  const auto cells = static_cast<std::size_t>(o.cells), layers = static_cast<std::size_t>(o.layers);
  const std::size_t width = kEvalModeNames.size();
  ModeResults out;
  out.loss.assign(cells * width, kNaN);
  out.executed = out.loss;
  out.rate.assign(cells * layers * width, kNaN);
  out.mismatch.assign(cells, kNaN);
  const std::size_t skipping = o.routing.layers.size();
  out.student.assign(cells * skipping, kNaN);
  std::vector<double> teacher(cells, kNaN), student(cells, kNaN);
  for (const DeclaredMode& mode : modes_) {
    const std::size_t place = label_index(kEvalModeNames, mode.name);
    const auto [results, executed] = scores(mode, final, stop);
    if (results.empty()) return std::nullopt;
    const bool own = is_default(mode);
    for (std::size_t e = 0; e < cells; ++e) {
      const std::size_t at = e * width + place;
      out.loss[at] = results[e].loss;
      std::vector<double> shares = executed_shares(executed, static_cast<std::int64_t>(e));
      out.executed[at] = dynamic_share(o.routing, shares);
      shares.resize(layers, kNaN);
      for (const std::int64_t dynamic : o.routing.layers) {
        const auto layer = static_cast<std::size_t>(dynamic);
        out.rate[(e * layers + layer) * width + place] = shares[layer];
      }
      if (own) student[e] = results[e].loss;
      for (std::size_t i = 0; own && i < skipping; ++i) {
        out.student[e * skipping + i] = shares[static_cast<std::size_t>(o.routing.layers[i])];
      }
      if (mode.mode == ExecutionMode::TeacherTopk) teacher[e] = results[e].loss;
    }
  }
  for (std::size_t e = 0; e < cells; ++e) out.mismatch[e] = student[e] - teacher[e];
  return out;
}

}  // namespace depthgrid
