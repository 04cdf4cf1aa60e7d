#include "worker/session/probe_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/probe/attention/attention_probe.hpp"
#include "core/probe/gates/gates_probe.hpp"
#include "core/probe/gradients/gradients_probe.hpp"
#include "core/probe/lens/logit_lens_probe.hpp"
#include "core/probe/lyapunov/lyapunov_probe.hpp"
#include "core/probe/trajectory/trajectory_probe.hpp"
#include "core/probe/weights/weights_probe.hpp"
#include "models/probed_model.hpp"
#include "worker/session/probe_tokens.hpp"

namespace depthgrid {
namespace {

/// As many as a training pass has at once, whose memory is there.
std::int64_t sequences_per_pass(const TrainedJob& job) {
  return std::max<std::int64_t>(1, job.fused.train.batch / job.fused.train.accumulation);
}

/// What a row makes a probe from. All cells of a job have the same leaves `probes.*`.
struct ProbeOrder {
  const CellConfig& leaves;
  const TrainedJob& job;
  const ProbeSubject& subject;
  ProbeSchedule schedule;  // that of the row's leaf; on
};

/// One row per probe: its schedule is the leaf probes.NAME.schedule.
struct ProbeRow {
  const char* name;
  /// Null if the model has nothing that it could look at.
  std::unique_ptr<Probe> (*make)(const ProbeOrder& order);
};

std::unique_ptr<Probe> make_trajectory(const ProbeOrder& o) {
  return std::make_unique<TrajectoryProbe>(
      o.subject, TrajectoryOptions{.schedule = o.schedule,
                                   .cka = o.leaves.flag("probes.trajectory.cka"),
                                   .batch = sequences_per_pass(o.job)});
}

std::unique_ptr<Probe> make_gates(const ProbeOrder& o) {
  if (!o.subject.gate_times().defined()) return nullptr;
  return std::make_unique<GatesProbe>(
      o.subject, GatesOptions{o.schedule, o.leaves.integer("probes.gates.bins"),
                              o.leaves.integer("probes.gates.grid")});
}

std::unique_ptr<Probe> make_gradients(const ProbeOrder& o) {
  return std::make_unique<GradientsProbe>(o.subject, o.schedule, sequences_per_pass(o.job));
}

std::unique_ptr<Probe> make_logit_lens(const ProbeOrder& o) {
  return std::make_unique<LogitLensProbe>(o.subject, o.schedule);
}

std::unique_ptr<Probe> make_lyapunov(const ProbeOrder& o) {
  const auto number = [&](const char* name) {
    return o.leaves.integer(std::string("probes.lyapunov.") + name);
  };
  LyapunovOptions options{.schedule = o.schedule,
                          .subspace = {.exponents = number("exponents"),
                                       .oversampling = number("oversampling"),
                                       .iterations = number("iterations"),
                                       .tolerance = o.leaves.real("probes.lyapunov.tolerance")},
                          .sequences = std::min(number("sequences"), o.subject.set().sequences()),
                          .variants = {},
                          .influence_probes = number("influence_probes")};
  for (const std::string& word : o.leaves.words("probes.lyapunov.variants")) {
    options.variants.push_back(lyapunov_variant(word));
  }
  return std::make_unique<LyapunovProbe>(o.subject, std::move(options));
}

std::unique_ptr<Probe> make_attention(const ProbeOrder& o) {
  if (o.subject.heads() == 0) return nullptr;
  return std::make_unique<AttentionProbe>(o.subject, o.schedule);
}

std::unique_ptr<Probe> make_weights(const ProbeOrder& o) {
  return std::make_unique<WeightsProbe>(o.subject, o.schedule);
}

constexpr ProbeRow kProbes[] = {
    {"trajectory", make_trajectory}, {"gates", make_gates},       {"gradients", make_gradients},
    {"logit_lens", make_logit_lens}, {"lyapunov", make_lyapunov}, {"attention", make_attention},
    {"weights", make_weights},
};

}  // namespace

JobProbes make_probes(const TrainedJob& job) {
  JobProbes out;
  const CellConfig& leaves = *job.configs[0];
  for (const ProbeRow& row : kProbes) {
    ProbeSchedule schedule(leaves.at("probes." + std::string(row.name) + ".schedule"), job.steps());
    if (schedule.count() == 0) continue;
    if (!out.subject) {
      out.subject =
          std::make_unique<ProbedModel>(*job.fused.model, probe_tokens(leaves, *job.data));
    }
    if (auto probe = row.make({leaves, job, *out.subject, std::move(schedule)})) {
      out.probes.push_back(std::move(probe));
    }
  }
  return out;
}

}  // namespace depthgrid
