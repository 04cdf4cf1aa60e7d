#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/processes.hpp"
#include "sweeps/slurm/scheduler.hpp"
#include "sweeps/slurm/slurm_text.hpp"

namespace depthgrid {

/// Slurm by its commands. A controller that does not answer is waited for, but not for ever.
class SlurmClient final : public Scheduler {
 public:
  /// @param run       starts a command; for tests.
  /// @param patience  s for an answer. Slurm's own commands wait for a controller for about 10 s,
  ///                  several times.
  explicit SlurmClient(CommandRunner run = real_commands(), double patience = 60)
      : run_(std::move(run)), patience_(patience) {}

  bool present() const override;
  /// As tasks_per_array() finds it.
  std::int64_t max_array_size() const override;
  std::vector<SlurmPartition> partitions() const override;
  std::vector<std::string> nodes() const override;
  std::string submit(const std::string& script,
                     const std::vector<std::string>& words) const override;
  std::string test(const std::string& script, const std::vector<std::string>& words) const override;
  std::vector<QueuedTask> queue() const override;
  std::optional<double> gpu_seconds(const std::vector<std::string>& arrays) const override;
  std::string requeue(const std::string& job) const override;
  std::vector<std::string> left_out(const std::string& job) const override;
  std::string leave_out(const std::string& job,
                        const std::vector<std::string>& nodes) const override;
  bool ending(const std::string& job) const override;
  std::string cancel(const std::vector<std::string>& jobs) const override;

 private:
  /// What a command says. @throws UserError (BadConfig) with the objection to its answer.
  CommandAnswer answered(const std::vector<std::string>& command) const;
  /// Why an answer is none: the program is absent, late, or ended with another code than 0, with
  /// what it said, and what to do. Empty if it is one.
  std::string objection(const std::string& program, const CommandAnswer& answer) const;
  CommandAnswer shown(const std::string& job) const;
  bool runs(const std::string& job) const;  // also where Slurm does not say

  CommandRunner run_;
  double patience_;
};

/// This task of an array as scontrol names it: "123_4", else the job; empty outside of Slurm.
std::string this_task();

/// How often Slurm has put this task back into the queue.
std::int64_t restart_of_task();

}  // namespace depthgrid
