#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweeps/slurm/scheduler.hpp"

namespace depthgrid {

/// What Slurm says of a store's submissions.
struct QueueReport {
  struct Group {
    std::string state, reason;  // PENDING, Priority; the reason is empty for tasks that run
    std::int64_t tasks = 0, cells = 0;
  };
  bool submitted = false;             // the store has submissions; else nothing is asked
  std::vector<Group> groups;          // tasks in the queue, by state and reason
  std::string problem;                // why the queue is not known; empty if it is
  std::optional<double> gpu_seconds;  // that Slurm has allocated to these; none without accounting
  double age = 0;                     // s since Slurm was asked for its queue
};

/// Asks for it again and again, and burdens a controller that serves a whole cluster no more than
/// its answers are worth: what was said is kept, with its age.
class QueueWatch {
 public:
  /// For a person who waits: s that a client of this should wait for each answer.
  static constexpr double kPatience = 5;
  /// The queue, and the accounts, are asked for no more often, in s.
  static constexpr double kQueueEvery = 30, kAccountsEvery = 300;

  /// @param scheduler  outlives this. @param now  s on a clock that never goes back.
  QueueWatch(const Scheduler& scheduler, std::function<double()> now)
      : scheduler_(scheduler), now_(std::move(now)) {}

  /// A queue that is not known is a problem in the report. @param store  its folder.
  QueueReport report(const std::filesystem::path& store);

 private:
  const Scheduler& scheduler_;
  std::function<double()> now_;
  std::optional<double> asked_, counted_;  // when
  std::vector<QueuedTask> queue_;
  std::string problem_;
  std::optional<double> gpu_seconds_;
};

/// Lines for the end of a status; "" without submissions.
std::string queue_text(const QueueReport& report);

/// {"tasks": [{state, reason, tasks, cells}], "problem", "gpu_hours_allocated", "age_seconds"}, the
/// second and third null if there is none; "null" without submissions.
std::string queue_json(const QueueReport& report);

}  // namespace depthgrid
