#include "worker/session/probe_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/probe/attention/attention_probe.hpp"
#include "core/probe/gates/gates_probe.hpp"
#include "core/probe/gradients/gradients_probe.hpp"
#include "core/probe/lens/logit_lens_probe.hpp"
#include "core/probe/lyapunov/lyapunov_probe.hpp"
#include "core/probe/solver/solver_probe.hpp"
#include "core/probe/ssm/ssm_probe.hpp"
#include "core/probe/trajectory/trajectory_probe.hpp"
#include "core/probe/weights/weights_probe.hpp"
#include "models/probed_model.hpp"
#include "models/routing_probe.hpp"
#include "worker/session/gradient_watch.hpp"
#include "worker/session/probe_tokens.hpp"

namespace depthgrid {
namespace {

/// What a row makes a probe from.
struct ProbeRequest {
  const CellConfig& leaves;
  const ProbedJob& job;
  const ProbeSubject& subject;
  ProbeSchedule schedule;   // on
  ProbeWatchList& watches;  // gets what the probe follows from step to step
};

/// One row per probe: its schedule is the leaf probes.NAME.schedule.
struct ProbeRow {
  const char* name;
  /// Null if the model has nothing that it could measure.
  std::unique_ptr<Probe> (*make)(const ProbeRequest& request);
  const char* proportional_to = nullptr;  // see ProbeFacts
};

StateSelection kept_states(const CellConfig& leaves) {
  return {.sequences = leaves.integer("probes.trajectory.state_sequences"),
          .channels = leaves.integer_if("probes.trajectory.state_channels"),
          .seed = static_cast<std::uint64_t>(leaves.integer("probes.set.seed")),
          .half = leaves.word("probes.trajectory.state_dtype") == "f16"};
}

std::unique_ptr<Probe> make_trajectory(const ProbeRequest& o) {
  return std::make_unique<TrajectoryProbe>(
      o.subject, TrajectoryOptions{.schedule = o.schedule,
                                   .cka = o.leaves.flag("probes.trajectory.cka"),
                                   .batch = o.job.sequences,
                                   .kept = kept_states(o.leaves)});
}

std::unique_ptr<Probe> make_gates(const ProbeRequest& o) {
  if (!o.subject.gate_times().defined() && o.subject.depth_factors().empty()) return nullptr;
  return std::make_unique<GatesProbe>(
      o.subject, GatesOptions{o.schedule, o.leaves.integer("probes.gates.bins"),
                              o.leaves.integer("probes.gates.grid")});
}

std::unique_ptr<Probe> make_routing(const ProbeRequest& o) {
  if (o.job.model.options().routing.layers.empty()) return nullptr;
  return std::make_unique<RoutingProbe>(
      o.job.model, o.subject.set(),
      RoutingProbeOptions{.schedule = o.schedule,
                          .masks = probe_sequences(o.leaves, "probes.routing.mask_sequences"),
                          .batch = o.job.sequences});
}

std::unique_ptr<Probe> make_gradients(const ProbeRequest& o) {
  const TrainingGradients* training = nullptr;
  if (o.job.train != nullptr) {
    auto watch =
        std::make_unique<GradientWatch>(o.leaves, o.job.model.options(), o.job.arena, *o.job.train);
    training = &watch->gradients();
    o.watches.push_back(std::move(watch));
  }
  return std::make_unique<GradientsProbe>(o.subject, o.schedule, o.job.sequences, training,
                                          o.leaves.flag("probes.gradients.norms"));
}

std::unique_ptr<Probe> make_logit_lens(const ProbeRequest& o) {
  return std::make_unique<LogitLensProbe>(o.subject, o.schedule);
}

std::unique_ptr<Probe> make_lyapunov(const ProbeRequest& o) {
  const auto number = [&](const char* name) {
    return o.leaves.integer(std::string("probes.lyapunov.") + name);
  };
  LyapunovOptions options{.schedule = o.schedule,
                          .subspace = {.exponents = number("exponents"),
                                       .oversampling = number("oversampling"),
                                       .iterations = number("iterations"),
                                       .tolerance = o.leaves.real("probes.lyapunov.tolerance")},
                          .sequences = probe_sequences(o.leaves, "probes.lyapunov.sequences"),
                          .batch = o.job.sequences,
                          .variants = {},
                          .influence_probes = number("influence_probes"),
                          .tong = o.leaves.flag("probes.lyapunov.tong_compat"),
                          .wide = o.leaves.word("probes.lyapunov.precision") == "f64"};
  for (const std::string& word : o.leaves.words("probes.lyapunov.variants")) {
    options.variants.push_back(lyapunov_variant(word));
  }
  return std::make_unique<LyapunovProbe>(o.subject, std::move(options));
}

std::unique_ptr<Probe> make_attention(const ProbeRequest& o) {
  if (o.subject.heads() == 0) return nullptr;
  return std::make_unique<AttentionProbe>(o.subject, o.schedule);
}

std::unique_ptr<Probe> make_weights(const ProbeRequest& o) {
  return std::make_unique<WeightsProbe>(o.subject, o.schedule);
}

std::unique_ptr<Probe> make_solver(const ProbeRequest& o) {
  if (o.subject.continuous_steps() == 0) return nullptr;
  const double rtol = o.leaves.real("probes.solver.rtol");
  const Value& atol = o.leaves.at("probes.solver.atol");
  SolverOptions options{.schedule = o.schedule,
                        .methods = {},
                        .tolerances = {.rtol = rtol,
                                       .atol = atol.is_null() ? rtol / 100 : atol.number(),
                                       .max_steps = o.leaves.integer("probes.solver.max_steps"),
                                       .min_step = o.leaves.real("probes.solver.min_step")},
                        .negative_control = o.leaves.flag("probes.solver.negative_control")};
  for (const std::string& word : o.leaves.words("probes.solver.methods")) {
    options.methods.push_back(solver_method(word));
  }
  return std::make_unique<SolverProbe>(o.subject, std::move(options));
}

std::unique_ptr<Probe> make_ssm(const ProbeRequest& o) {
  if (!o.subject.state_space().transition.defined()) return nullptr;
  return std::make_unique<SsmProbe>(o.subject, o.schedule, o.job.sequences);
}

constexpr ProbeRow kProbes[] = {
    {"trajectory", make_trajectory}, {"gates", make_gates},
    {"routing", make_routing},       {"gradients", make_gradients},
    {"logit_lens", make_logit_lens}, {"lyapunov", make_lyapunov, "probes.lyapunov.sequences"},
    {"attention", make_attention},   {"weights", make_weights},
    {"solver", make_solver},         {"ssm", make_ssm},
};

/// The probes of the table to which `schedule_of` gives measurements.
template <class ScheduleOf>
JobProbes chosen_probes(const ProbedJob& job, ScheduleOf schedule_of) {
  JobProbes out;
  for (const ProbeRow& row : kProbes) {
    ProbeSchedule schedule = schedule_of(std::string(row.name));
    if (schedule.count() == 0) continue;
    if (!out.subject) {
      out.subject = std::make_unique<ProbedModel>(job.model, job.set(), &job.arena);
    }
    if (auto probe = row.make({job.leaves, job, *out.subject, std::move(schedule), out.watches})) {
      out.probes.push_back(std::move(probe));
      out.names.emplace_back(row.name);
    }
  }
  return out;
}

}  // namespace

std::vector<ProbeFacts> known_probes() {
  std::vector<ProbeFacts> out;
  for (const ProbeRow& row : kProbes) out.push_back({row.name, row.proportional_to});
  return out;
}

JobProbes make_probes(const ProbedJob& job, const std::vector<std::string>& names) {
  return chosen_probes(job, [&](const std::string& name) {
    const bool wanted = std::ranges::find(names, name) != names.end();
    return wanted ? ProbeSchedule(Value(std::string("end")), job.steps) : ProbeSchedule();
  });
}

JobProbes make_probes(const TrainedJob& job) {
  const TrainOptions& train = job.fused.train;
  const ProbedJob probed{.leaves = *job.configs[0],
                         .model = *job.fused.model,
                         .arena = *job.fused.arena,
                         .set = [&job] { return probe_tokens(*job.configs[0], *job.data); },
                         .steps = job.steps(),
                         .sequences = std::max<std::int64_t>(1, train.batch / train.accumulation),
                         .train = &train};
  return chosen_probes(probed, [&](const std::string& name) {
    return ProbeSchedule(probed.leaves.at("probes." + name + ".schedule"), probed.steps);
  });
}

}  // namespace depthgrid
