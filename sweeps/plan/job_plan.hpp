#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Order of the jobs: by predicted time, or as in the sweep file.
enum class JobOrder : std::uint8_t { LongestFirst, File };

/// How cells are fused into jobs: the leaves packing.* and resources.ranks_per_job.
struct PackingOptions {
  std::int64_t fuse = 0;  // cells of a job: 0 = auto, 1 = off, n = at most n
  JobOrder order = JobOrder::LongestFirst;
  std::int64_t teams = 1;  // jobs of ranks_per_job that train at the same time
  std::int64_t ranks_per_job = 1;
  bool gpu = false;         // ranks train on GPUs, as far as that is known in advance
  bool auto_ranks = false;  // each structure has its own number: see team_size()
  double cell_seconds = 0;  // leaf resources.max_cell_time; 0 = none
  double memory_bytes = 0;  // memory of one rank's device; 0 = max_fused is the only bound
  bool divide = false;      // leaf resources.shard_optimizer

  std::int64_t ranks() const { return teams * ranks_per_job; }  // of all teams
};

/// packing.* and resources.ranks_per_job of any cell (Execution leaves are the same in all cells).
PackingOptions packing_options(const CellConfig& config, std::int64_t teams);

/// The planner's view of a cell.
struct JobCell {
  CellId id;
  std::string structure;
  double seconds = 0;      // predicted for this cell on one rank, s; NaN = unknown
  CellId start{};          // the cell it starts from; empty = none
  std::int64_t depth = 0;  // cells before it in that chain
  double operations = std::numeric_limits<double>::quiet_NaN();  // of its training; NaN = unknown
};

/// The planner's view of a sweep's cells.
std::vector<JobCell> job_cells(const std::vector<CellPlan>& cells, const CostTable& costs);

/// Cells of equal structure that one team trains as one batched model.
struct FusedJob {
  std::string id;  // job_id() of its cells
  std::string structure;
  std::vector<std::size_t> cells;  // indices into the planned cells, ascending
  std::int64_t ranks = 1;
  std::string why;                   // why these cells are fused, or separate
  double predicted_seconds = 0;      // NaN = unknown
  double predicted_bytes = 0;        // of each of its ranks; NaN = unknown
  std::int64_t depth = 0;            // of its cells, see JobCell
  std::vector<std::string> after{};  // ids of the jobs whose cells these start from
};

/// First 12 hex digits of the SHA-256 of the cells' ids, one per line: the same in a plan and in a
/// run.
std::string job_id(const std::vector<std::string>& cells);

/// Groups the wanted cells by structure and divides the groups into jobs.
///
/// Automatic fusing fills jobs up to max_fused (and the memory), then divides them further as long
/// as that lets all teams end sooner. Pure: the same arguments give the same jobs on every rank and
/// machine. Every wanted cell is in exactly one job. Cells that others start from come first, then
/// the widest teams, then the longest jobs. Cells that need a team are not fused.
/// @param wanted  one flag per cell. @throws Error if it has another size than `cells`.
std::vector<FusedJob> plan_jobs(const std::vector<JobCell>& cells, const std::vector<bool>& wanted,
                                const PackingOptions& options, const CostTable& costs);

/// The same for the cells of a sweep; FusedJob::why also names the leaves that distinguish the
/// structure.
std::vector<FusedJob> plan_jobs(const std::vector<CellPlan>& cells, const std::vector<bool>& wanted,
                                const PackingOptions& options, const CostTable& costs);

/// Ranks of each team where all teams are equal, as under one mpirun: ranks_per_job, or the most
/// that a structure wants. Depends on all cells, done or not, so that a run that goes on has the
/// teams it had before.
std::int64_t equal_teams(const std::vector<CellPlan>& cells, const PackingOptions& options,
                         const CostTable& costs);

/// Leaves of the fusion key that differ between structures of these cells, in the schema's order.
std::vector<std::string> separating_leaves(const std::vector<CellPlan>& cells);

/// Time in seconds until the last job ends when free ranks take the first of the jobs, in this
/// order, whose sources (`after`) are done; NaN if the time of a job is unknown or one does not
/// fit. Graham, for m jobs at a time: at most 2 - 1/m times the shortest time possible; longest
/// first, at most 4/3 - 1/(3m) times.
double predicted_makespan(const std::vector<FusedJob>& jobs, std::int64_t ranks);

}  // namespace depthgrid
