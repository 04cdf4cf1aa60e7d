#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/slurm/batch_script.hpp"
#include "sweeps/slurm/slurm_client.hpp"
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
                                      const std::vector<std::string>& words);

/// Writes the scripts into the store and calls sbatch for one after the other. Each id is kept at
/// once. @throws UserError with what sbatch says; StorageError
void submit_prepared(PreparedSubmission& prepared, const Store& store, const SlurmClient& slurm);

/// Lets sbatch check the scripts, and removes them. @return what it says.
std::string test_prepared(PreparedSubmission& prepared, const Store& store,
                          const SlurmClient& slurm);

}  // namespace depthgrid
