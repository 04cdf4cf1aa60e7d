#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/processes.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/slurm/batch_script.hpp"
#include "sweeps/slurm/scheduler.hpp"
#include "sweeps/slurm/submission.hpp"
#include "sweeps/slurm/task_plan.hpp"

namespace depthgrid {

/// A submission with what its scripts say. Nothing of it is written yet.
struct PreparedSubmission {
  Submission submission;
  std::string sweep_yaml;             // Sweep::yaml
  std::vector<BatchArray> arrays;     // of submission.arrays
  std::vector<TaskRequest> requests;  // likewise
};

/// @param store  its folder, which need not exist.
/// @param most   largest number of tasks of an array. @param words  further options of sbatch.
PreparedSubmission prepare_submission(const Sweep& sweep, const std::filesystem::path& store,
                                      const std::vector<TaskGroup>& groups, std::int64_t most,
                                      const std::vector<std::string>& words,
                                      const Clock& clock = real_clock(),
                                      const Processes& processes = real_processes());

/// Writes the scripts into the store and calls sbatch for one after the other. Each id is kept at
/// once.
/// @param deposed  whether another submission has taken this one's lock, as happens to one that was
///                 suspended: examined before and after each call of sbatch. What is not submitted
///                 then is taken out of the record, and tasks whose cells both have submitted leave
///                 the queue.
/// @throws UserError with what sbatch says, or (TempFail) if deposed; where its answer was lost,
/// with what the queue shows of it; StorageError
void submit_prepared(
    PreparedSubmission& prepared, const Store& store, const Scheduler& slurm,
    const std::function<bool()>& deposed = [] { return false; });

/// Lets sbatch check the scripts, and removes them. @return what it says.
std::string test_prepared(PreparedSubmission& prepared, const Store& store, const Scheduler& slurm);

}  // namespace depthgrid
