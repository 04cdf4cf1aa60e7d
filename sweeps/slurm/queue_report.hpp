#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {

/// What Slurm says of a store's submissions now.
struct QueueReport {
  struct Group {
    std::string state, reason;  // PENDING, Priority; the reason is empty for tasks that run
    std::int64_t tasks = 0, cells = 0;
  };
  bool submitted = false;             // the store has submissions; else nothing is asked
  std::vector<Group> groups;          // tasks in the queue, by state and reason
  std::string problem;                // why the queue is not known; empty if it is
  std::optional<double> gpu_seconds;  // that Slurm has allocated to these; none without accounting
};

/// Asks squeue, and sacct where there is accounting; a controller that does not answer within
/// seconds is a problem in the report. @param store  its folder.
QueueReport queue_report(const std::filesystem::path& store, const CommandRunner& run);

/// The same of this machine's Slurm, with five seconds for each answer.
QueueReport queue_report(const std::filesystem::path& store);

/// Lines for the end of a status; "" without submissions.
std::string queue_text(const QueueReport& report);

/// {"tasks": [{state, reason, tasks, cells}], "problem", "gpu_hours_allocated"}, the last two null
/// if there is none; "null" without submissions.
std::string queue_json(const QueueReport& report);

}  // namespace depthgrid
