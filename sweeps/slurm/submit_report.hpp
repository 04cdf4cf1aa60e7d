#pragma once

#include <string>

#include "sweeps/slurm/missing_cells.hpp"
#include "sweeps/slurm/prepared_submission.hpp"

namespace depthgrid {

/// What `depthgrid submit` has submitted, or would submit, and which cells it has left out.
/// @param dry  nothing is submitted.
std::string submit_text(const PreparedSubmission& prepared, const MissingCells& missing, bool dry);

/// The same as JSON, schema 1. @param scripts  with the text of each array's script.
/// @param said  by sbatch, of a test; may be empty.
std::string submit_json(const PreparedSubmission& prepared, const MissingCells& missing,
                        bool scripts, const std::string& answer);

}  // namespace depthgrid
