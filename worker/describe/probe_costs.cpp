#include "worker/describe/probe_costs.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>

#include "core/base/clock.hpp"
#include "core/config/probe_schedule.hpp"
#include "core/config/sweep/observation.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/probe/look_rows.hpp"
#include "worker/session/probe_table.hpp"
#include "worker/session/probe_tokens.hpp"

namespace depthgrid {
namespace {

constexpr double kShort = 0.05;  // s: what ends sooner is timed twice

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

double seconds_of(Probe& probe, LookRows& rows) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {
    const Stopwatch clock;
    probe.look(0, rows);
    best = std::min(best, clock.seconds());
    if (best > kShort) break;
  }
  return best;
}

}  // namespace

std::vector<ProbeCost> probe_costs(const CellConfig& config) {
  std::vector<ProbeCost> out;
  std::unique_ptr<FusedModel> fused;
  for (const ProbeFacts& known : known_probes()) {
    const std::int64_t steps = config.integer("train.steps");
    const std::string leaf = fmt::format("probes.{}.schedule", known.name);
    const std::int64_t looks = ProbeSchedule(config.at(leaf), steps).count();
    if (looks == 0) continue;
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
      double bytes = 0;  // of the last of the looks
      LookRows rows(
          [&bytes](const StateRecord& kept) { bytes = static_cast<double>(kept.states.size()); });
      probe->declare(rows);
      const double seconds = seconds_of(*probe, rows);
      out.push_back({known.name, looks, times * seconds, static_cast<double>(rows.width()), bytes});
    }
  }
  return out;
}

}  // namespace depthgrid
