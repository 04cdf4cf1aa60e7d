#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/slurm/scheduler.hpp"

namespace depthgrid::testing {

/// A batch system in memory: numbers arrays from 1, shows the queue that it is given, and keeps
/// what it was asked to do.
struct PretendedScheduler : Scheduler {
  using Names = std::vector<std::string>;

  std::vector<QueuedTask> tasks;
  std::string silent;  // why the queue is not known; "" = it is
  std::vector<SlurmPartition> all;
  Names known;                                            // nodes
  std::optional<double> seconds;                          // of GPUs
  std::function<void(const std::string& script)> taking;  // during submit(); may throw
  mutable std::int64_t arrays = 0, asked = 0, counted = 0, sized = 0, named = 0;
  mutable Names cancelled;
  mutable std::map<std::string, Names> kept_from;  // by job

  bool present() const override { return true; }
  std::int64_t max_array_size() const override { return 1000; }
  std::vector<SlurmPartition> partitions() const override {
    ++sized;
    return all;
  }
  Names nodes() const override {
    ++named;
    return known;
  }
  std::string submit(const std::string& script, const Names&) const override {
    ++arrays;
    if (taking) taking(script);
    return std::to_string(arrays);
  }
  std::string test(const std::string&, const Names&) const override { return "to start"; }
  std::vector<QueuedTask> queue() const override {
    ++asked;
    if (!silent.empty()) throw UserError(ExitCode::BadConfig, silent);
    return tasks;
  }
  std::optional<double> gpu_seconds(const Names&) const override {
    ++counted;
    return seconds;
  }
  std::string requeue(const std::string&) const override { return ""; }
  Names left_out(const std::string& job) const override {
    const auto at = kept_from.find(job);
    return at == kept_from.end() ? Names{} : at->second;
  }
  std::string leave_out(const std::string& job, const Names& names) const override {
    for (const std::string& name : names) {
      const bool range = name.find('[') != name.npos;
      const bool there = known.empty() || range || std::ranges::count(known, name) > 0;
      if (!there) return "Invalid node name specified";
    }
    kept_from[job] = names;
    return "";
  }
  bool ending(const std::string&) const override { return false; }
  std::string cancel(const Names& jobs) const override {
    cancelled = jobs;
    return "";
  }
};

}  // namespace depthgrid::testing
