#include "sweeps/simulate/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/plan/ready_jobs.hpp"

namespace depthgrid {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSecondsPerHour = 3600;

/// Uniform in [0, 1): SplitMix64 of the seed, the node and the number of the draw, so that a node's
/// preemptions do not depend on what the others do.
double uniform(std::uint64_t seed, std::uint64_t node, std::uint64_t draw) {
  std::uint64_t z = seed;
  for (const std::uint64_t part : {node, draw}) {
    z += 0x9e3779b97f4a7c15ULL * (part + 1);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    z ^= z >> 31U;
  }
  return static_cast<double>(z >> 11U) * 0x1p-53;
}

struct NodeTime {
  bool up = false;
  bool preempted = false;           // how this allocation ends
  double begin = 0, end = 0;        // of the allocation, s
  std::uint64_t allocation = 0;     // its number
  std::set<std::size_t> running{};  // jobs
};

struct JobTime {
  double left = 0;   // work still to do, s
  double begin = 0;  // of this attempt
  std::uint64_t attempt = 0;
  std::vector<NodeShare> shares{};  // empty: not running
};

/// One simulation in progress.
class Simulation {
 public:
  Simulation(const std::vector<FusedJob>& jobs, const ClusterModel& cluster, std::uint64_t seed)
      : jobs_(jobs),
        cluster_(cluster),
        seed_(seed),
        ready_(jobs),
        state_(cluster.nodes, cluster.devices_per_node),
        nodes_(static_cast<std::size_t>(cluster.nodes)),
        times_(jobs.size()) {
    for (std::size_t j = 0; j < jobs.size(); ++j) times_[j].left = jobs[j].predicted_seconds;
    for (std::size_t n = 0; n < nodes_.size(); ++n) begin_node(n);
  }

  SimulatedRun run() {
    begin_jobs();
    while (!ready_.all_done()) {
      now_ = std::get<0>(events_.top());
      while (!events_.empty() && std::get<0>(events_.top()) == now_) {
        const auto [time, kind, index, number] = events_.top();
        events_.pop();
        if (kind == Kind::JobEnds && times_[index].attempt == number) end_job(index);
        if (kind == Kind::NodeEnds && !ready_.all_done()) end_node(index);
        if (kind == Kind::NodeBegins) begin_node(index);
      }
      begin_jobs();
    }
    for (const NodeTime& node : nodes_) {
      if (node.up) count_allocation(node);
    }
    out_.makespan = now_;
    return out_;
  }

 private:
  enum class Kind : std::uint8_t { JobEnds, NodeEnds, NodeBegins };  // at one time, in this order
  using Event = std::tuple<double, Kind, std::size_t, std::uint64_t>;

  void count_allocation(const NodeTime& node) {
    out_.allocated += (now_ - node.begin) * static_cast<double>(cluster_.devices_per_node);
  }

  void begin_node(std::size_t n) {
    NodeTime& node = nodes_[n];
    node.up = true;
    node.begin = now_;
    node.end = now_ + cluster_.time_limit;
    node.preempted = false;
    if (cluster_.preemptions_per_hour > 0) {
      const double wait = -std::log1p(-uniform(seed_, n, node.allocation)) * kSecondsPerHour /
                          cluster_.preemptions_per_hour;
      node.preempted = now_ + wait < node.end;
      if (node.preempted) node.end = now_ + wait;
    }
    if (node.end < kNever) events_.emplace(node.end, Kind::NodeEnds, n, node.allocation);
    ++node.allocation;
    state_.up(n);
  }

  void end_node(std::size_t n) {
    NodeTime& node = nodes_[n];
    node.up = false;
    count_allocation(node);
    const std::set<std::size_t> running = node.running;
    for (const std::size_t job : running) interrupt(job, node.preempted);
    state_.down(n);
    events_.emplace(now_ + cluster_.requeue_seconds, Kind::NodeBegins, n, 0);
  }

  void begin_jobs() {
    for (std::int64_t free = state_.free_devices(); free > 0; free = state_.free_devices()) {
      const auto job = ready_.take(free);
      if (!job) return;
      JobTime& time = times_[*job];
      time.shares = state_.take(jobs_[*job].ranks);
      for (const NodeShare& share : time.shares) nodes_[share.node].running.insert(*job);
      time.begin = now_;
      events_.emplace(now_ + cluster_.launch_seconds + time.left, Kind::JobEnds, *job,
                      ++time.attempt);
    }
  }

  /// Frees the devices of a job. @return  their number.
  double leave(std::size_t job) {
    double devices = 0;
    for (const NodeShare& share : times_[job].shares) {
      nodes_[share.node].running.erase(job);
      state_.give(share);
      devices += static_cast<double>(share.devices);
    }
    times_[job].shares.clear();
    out_.busy += devices * (now_ - times_[job].begin);
    return devices;
  }

  void end_job(std::size_t job) {
    leave(job);
    ready_.done(job);
  }

  void interrupt(std::size_t job, bool preempted) {
    JobTime& time = times_[job];
    const double devices = leave(job);
    const double computed = std::max(0.0, now_ - time.begin - cluster_.launch_seconds);
    const double kept =
        preempted ? std::floor(computed / cluster_.checkpoint_seconds) * cluster_.checkpoint_seconds
                  : computed;
    out_.lost += devices * (computed - kept);
    time.left -= kept;
    ++time.attempt;  // the end that was expected does not come
    ready_.give_back(job);
    const auto many = static_cast<std::int64_t>(1000 + 100 * jobs_.size());
    if (++out_.restarts > many) {
      throw UserError(ExitCode::BadConfig,
                      fmt::format("on the cluster {} the jobs would never end: {} interruptions; "
                                  "expected a time limit and a time between preemptions that are "
                                  "longer than the start of a job and the time to its first "
                                  "checkpoint",
                                  cluster_.size(), many));
    }
  }

  const std::vector<FusedJob>& jobs_;
  const ClusterModel& cluster_;
  std::uint64_t seed_;
  ReadyJobs ready_;
  ClusterState state_;
  std::vector<NodeTime> nodes_;
  std::vector<JobTime> times_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double now_ = 0;
  SimulatedRun out_;
};

}  // namespace

SimulatedRun simulate(const std::vector<FusedJob>& jobs, const ClusterModel& cluster,
                      std::uint64_t seed) {
  for (const FusedJob& job : jobs) {
    if (std::isnan(job.predicted_seconds)) {
      throw UserError(
          ExitCode::BadConfig,
          fmt::format("job {} cannot be simulated: its time is unknown (depthgrid-worker "
                      "finds it; is it beside depthgrid?)",
                      job.id));
    }
    const std::int64_t per_node = cluster.devices_per_node;
    const std::int64_t nodes = (job.ranks + per_node - 1) / per_node;
    if (nodes > cluster.nodes) {
      throw UserError(ExitCode::BadConfig,
                      fmt::format("job {} has {} ranks, the cluster {} only {}: lower "
                                  "resources.ranks_per_job, or simulate a larger cluster",
                                  job.id, job.ranks, cluster.size(), cluster.devices()));
    }
  }
  return Simulation(jobs, cluster, seed).run();
}

}  // namespace depthgrid
