#include "sweeps/simulate/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/simulate/simulate.hpp"

namespace depthgrid {
namespace {

using ScalingJson = nlohmann::ordered_json;
constexpr double kHour = 3600;  // s

double least_time(const std::vector<FusedJob>& jobs, const ClusterModel& cluster) {
  double work = 0, longest = 0;
  for (const FusedJob& job : jobs) {
    const double seconds = job.predicted_seconds + cluster.launch_seconds;
    work += seconds * static_cast<double>(job.ranks);
    longest = std::max(longest, seconds);
  }
  return std::max(longest, work / static_cast<double>(cluster.devices()));
}

ScalingRow row_of(const std::vector<FusedJob>& jobs, const ClusterModel& cluster,
                  std::int64_t repetitions) {
  ScalingRow row{.cluster = cluster, .jobs = jobs.size(), .repetitions = repetitions};
  row.bound = least_time(jobs, cluster);
  std::vector<double> makespan, hours, idle, lost, restarts;
  for (std::int64_t i = 0; i < repetitions; ++i) {
    const SimulatedRun run = simulate(jobs, cluster, static_cast<std::uint64_t>(i));
    makespan.push_back(run.makespan);
    hours.push_back(run.allocated / kHour);
    idle.push_back(run.allocated > 0 ? 1 - run.busy / run.allocated : 0);
    lost.push_back(run.lost / kHour);
    restarts.push_back(static_cast<double>(run.restarts));
  }
  row.makespan = spread_of(makespan);
  row.device_hours = spread_of(hours);
  row.idle_share = spread_of(idle);
  row.lost_hours = spread_of(lost);
  row.restarts = spread_of(restarts);
  return row;
}

std::string time_text(const Spread& spread) {
  std::string out = short_seconds(spread.mean);
  if (spread.deviation > 0) out += " ± " + short_seconds(spread.deviation);
  return out;
}

ScalingJson spread_json(const Spread& spread) {
  return {
      {"mean", spread.mean}, {"sd", spread.deviation}, {"min", spread.least}, {"max", spread.most}};
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread out;
  if (values.empty()) return out;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  if (values.size() > 1) out.deviation = std::sqrt(squares / (n - 1));
  out.least = *std::ranges::min_element(values);
  out.most = *std::ranges::max_element(values);
  return out;
}

std::vector<ScalingRow> scaling_of(std::vector<JobCell> cells, const std::vector<bool>& wanted,
                                   PackingOptions options, const CostTable& costs,
                                   const std::vector<ClusterModel>& clusters,
                                   std::int64_t repetitions) {
  std::vector<ScalingRow> out;
  double speed = 1;  // that is in `cells` already
  for (const ClusterModel& cluster : clusters) {
    for (JobCell& cell : cells) cell.seconds *= speed / cluster.speed;
    speed = cluster.speed;
    options.teams = std::max<std::int64_t>(cluster.devices() / options.ranks_per_job, 1);
    const std::vector<FusedJob> jobs = plan_jobs(cells, wanted, options, costs);
    out.push_back(row_of(jobs, cluster, cluster.preemptions_per_hour > 0 ? repetitions : 1));
  }
  return out;
}

std::string scaling_text(const std::vector<ScalingRow>& rows, Colour colour) {
  Table table = titled_table({"cluster", ">devices", ">jobs", ">time", ">at least", ">device hours",
                              ">idle", ">lost hours", ">restarts"});
  for (const ScalingRow& row : rows) {
    table.rows.push_back({row.cluster.size(), std::to_string(row.cluster.devices()),
                          std::to_string(row.jobs), time_text(row.makespan),
                          short_seconds(row.bound), fmt::format("{:.4g}", row.device_hours.mean),
                          fmt::format("{:.1f} %", 100 * row.idle_share.mean),
                          fmt::format("{:.3g}", row.lost_hours.mean),
                          fmt::format("{:.4g}", row.restarts.mean)});
  }
  std::string out = text_of(table, colour);
  if (rows.empty()) return out;
  const ClusterModel& model = rows.front().cluster;
  const std::string limit = std::isinf(model.time_limit)
                                ? "no time limit"
                                : "time limit " + short_seconds(model.time_limit);
  out += fmt::format(
      "simulated: {}, {:.3g} preemptions per node and hour, {} to start a job, a checkpoint every "
      "{}, {} until a node is back, devices {:.3g} times as fast as here, {} {}\n",
      limit, model.preemptions_per_hour, short_seconds(model.launch_seconds),
      short_seconds(model.checkpoint_seconds), short_seconds(model.requeue_seconds), model.speed,
      rows.front().repetitions, rows.front().repetitions == 1 ? "repetition" : "repetitions");
  return out;
}

std::string scaling_json(const std::vector<ScalingRow>& rows) {
  ScalingJson out = ScalingJson::array();
  for (const ScalingRow& row : rows) {
    const ClusterModel& model = row.cluster;
    out.push_back({{"nodes", model.nodes},
                   {"devices_per_node", model.devices_per_node},
                   {"time_limit_seconds", model.time_limit},  // infinite: null
                   {"preemptions_per_node_hour", model.preemptions_per_hour},
                   {"speed", model.speed},
                   {"launch_seconds", model.launch_seconds},
                   {"checkpoint_seconds", model.checkpoint_seconds},
                   {"requeue_seconds", model.requeue_seconds},
                   {"jobs", row.jobs},
                   {"repetitions", row.repetitions},
                   {"bound_seconds", row.bound},
                   {"makespan_seconds", spread_json(row.makespan)},
                   {"device_hours", spread_json(row.device_hours)},
                   {"idle_share", spread_json(row.idle_share)},
                   {"lost_device_hours", spread_json(row.lost_hours)},
                   {"restarts", spread_json(row.restarts)}});
  }
  return json_text(out);
}

}  // namespace depthgrid
