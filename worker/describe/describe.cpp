#include "worker/describe/describe.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/probe_schedule.hpp"
#include "core/config/sweep/observation.hpp"
#include "models/blocks/time_features.hpp"
#include "models/cost_model.hpp"
#include "sweeps/plan/structure_cost.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/probe/measurement_rows.hpp"
#include "worker/session/final_weights.hpp"
#include "worker/session/probe_table.hpp"
#include "worker/session/probe_tokens.hpp"

namespace depthgrid {
namespace {

constexpr double kLongStep = 20e9;  // operations: about a tenth of a second on one core
constexpr int kRounds = 3;
constexpr double kShort = 0.05;  // s: a measurement that ends sooner is timed twice

/// Random tokens in a set of the size that training would have.
ProbeSet random_set(const CellConfig& config, std::int64_t vocabulary) {
  ProbeSet out;
  const std::int64_t n = probe_sequences(config), length = config.integer("data.seq_len");
  out.windows = at::randint(0, vocabulary, {n, length + 1}, at::kLong);
  for (const std::string& name : config.words("probes.trajectory.token_classes")) {
    out.classes.push_back({name, at::ones({n, length}, at::kBool)});
  }
  return out;
}

double seconds_of(Probe& probe, MeasurementRows& rows) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {
    const Stopwatch clock;
    probe.measure(0, rows);
    best = std::min(best, clock.seconds());
    if (best > kShort) break;
  }
  return best;
}

/// Costs of the probes that a configuration switches on: each measures a model of one cell once
/// with initial weights, on random tokens. Where its time is proportional to a number of sequences,
/// it measures one.
std::vector<ProbeCost> probe_costs(const CellConfig& config) {
  std::vector<ProbeCost> out;
  std::unique_ptr<FusedModel> fused;
  for (const ProbeFacts& known : known_probes()) {
    const std::int64_t steps = config.integer("train.steps");
    const std::string leaf = fmt::format("probes.{}.schedule", known.name);
    const std::int64_t measurements = ProbeSchedule(config.at(leaf), steps).count();
    if (measurements == 0) continue;
    if (!fused) fused = std::make_unique<FusedModel>(std::vector{&config}, at::kCPU);
    double times = 1;
    CellConfig leaves = config;
    if (known.proportional_to != nullptr) {
      times = static_cast<double>(probe_sequences(config, known.proportional_to));
      leaves = with_observations(config, {fmt::format("{}=1", known.proportional_to)});
    }
    const TrainOptions& train = fused->train;
    const ProbedJob job{.leaves = leaves,
                        .model = *fused->model,
                        .arena = *fused->arena,
                        .set = [&] { return random_set(leaves, fused->options.vocabulary); },
                        .steps = steps,
                        .sequences = std::max<std::int64_t>(1, train.batch / train.accumulation),
                        .train = &train};
    const JobProbes made = make_probes(job, {known.name});
    for (const auto& probe : made.probes) {
      double bytes = 0;  // of the last of the measurements
      MeasurementRows rows(
          [&bytes](const StateRecord& kept) { bytes = static_cast<double>(kept.states.size()); });
      probe->declare(rows);
      const double seconds = seconds_of(*probe, rows);
      out.push_back(
          {known.name, measurements, times * seconds, static_cast<double>(rows.width()), bytes});
    }
  }
  return out;
}

double best_of(const auto& work) {
  work();  // fills caches and arenas
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i) {
    const Stopwatch clock;
    work();
    best = std::min(best, clock.seconds());
  }
  return best;
}

/// Times of one cell, measured fused, on `rows` sequences of the batch.
void calibrate(StructureCost& cost, const CellConfig& config) {
  const std::int64_t tokens = config.integer("data.seq_len");
  const std::int64_t batch = config.integer("train.batch_size");
  const double step = (3 * cost.flops_per_token + cost.recomputed_flops_per_token) *
                      static_cast<double>(batch * tokens);
  const auto cells = step > kLongStep ? 1 : std::min<std::int64_t>(cost.max_fused, 4);
  const std::int64_t rows = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(static_cast<double>(batch) * kLongStep / step), 1, batch);
  FusedModel fused(std::vector<const CellConfig*>(static_cast<std::size_t>(cells), &config),
                   at::kCPU);
  const at::Tensor windows =
      at::randint(0, fused.options.vocabulary, {cells, rows, tokens + 1}, at::kLong);
  const at::Tensor weight = at::full({cells}, 1.0 / static_cast<double>(rows * tokens), at::kFloat);
  const std::vector<std::uint8_t> active(static_cast<std::size_t>(cells), 1);
  const double backward = best_of([&] {
    fused.language->losses({windows, 1}).total.backward(weight);
    fused.arena->zero_gradients();
  });
  const bool trains = fused.train.steps > 0;  // else there is no step to time
  const double update = trains ? best_of([&] { fused.optimizer->step(1, active); }) : 0;
  const double score = best_of([&] { fused.language->score({windows.narrow(0, 0, 1)}); });
  const auto e = static_cast<double>(cells);
  const double share = static_cast<double>(batch) / static_cast<double>(rows);
  cost.seconds_per_cell_step = (backward * share + update) / e;
  cost.seconds_per_eval_token = score / e / static_cast<double>(rows * tokens);
}

StructureCost cost_of(const std::string& structure, const CellConfig& config, bool times,
                      bool tensors) {
  const ModelOptions o = model_options({&config});
  const ParameterLayout layout = layout_of(o);
  const std::int64_t tokens = config.integer("data.seq_len");
  const std::int64_t batch = config.integer("train.batch_size");
  StructureCost cost;
  cost.structure = structure;
  cost.parameters = layout.parameters();
  const std::vector<std::int64_t> groups = layout.counts_by_group();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g] > 0) cost.parameter_groups.emplace_back(kParameterGroupNames[g], groups[g]);
  }
  const std::int64_t rows = batch / config.integer("train.accumulation");
  cost.flops_per_token = flops_per_token(o, rows, tokens);
  cost.recomputed_flops_per_token =
      recomputed_flops_per_token(o, rows, tokens, cost.flops_per_token);
  if (!o.routing.layers.empty()) {
    cost.student_flops = student_flops(o, rows, tokens);
  }
  set_memory(cost, o, config);
  cost.max_fused = automatic_fuse(o, batch, tokens, at::kCPU);
  cost.depends_on_h = o.sublayers == Sublayers::Sequential;
  if (o.timed()) {
    const at::Tensor t = layer_grid(o.time.nodes, o.layers, at::full({1, 1}, 1.0)).t;
    cost.time_feature_rank = time_feature_rank(o.time, t, 0);
  }
  if (tensors) cost.tensors = tensor_infos(layout);
  if (times) {
    calibrate(cost, config);
    cost.probes = probe_costs(config);
  }
  return cost;
}

}  // namespace

std::string describe(const std::string& request) {
  try {
    CostTable costs;
    const auto root = parse_ordered_json(request);
    const bool times = root.value("times", true);
    const bool tensors = root.value("tensors", false);
    for (const auto& entry : root.at("structures")) {
      const CellConfig config = config_from_json(json_text(entry.at("config")));
      use_threads(config);
      const std::string structure = entry.at("structure");
      costs.emplace(structure, cost_of(structure, config, times, tensors));
    }
    return costs_json(costs);
  } catch (const nlohmann::json::exception& e) {
    throw UserError(ExitCode::BadData,
                    std::string("describe: cannot read the request: ") + e.what());
  }
}

}  // namespace depthgrid
