#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// How the ranks of a launch start: a single one as a child, several by a launcher.
enum class LauncherKind : std::uint8_t { Direct, Mpirun, Srun };

std::string_view name_of(LauncherKind kind) noexcept;

/// Where launches run.
struct LaunchPlace {
  std::string wanted = "auto";                          // leaf resources.launcher
  std::int64_t nodes = 1;                               // of the Slurm allocation; 1 outside of one
  std::string mpi = "pmix";                             // srun --mpi=; "none": it has no PMIx
  std::int64_t threads = 1;                             // of a rank
  std::int64_t cores_per_rank = 0;                      // that a step of srun gets; 0 = threads
  std::int64_t cores_per_node = 0, cards_per_node = 0;  // 0 = unknown, none
  std::int64_t mb_per_core = 0;                         // of the allocation; 0 = it does not say
  bool as_root = false;                                 // mpirun asks for a confirmation
};

/// The leaves resources.launcher and resources.threads, and the allocation that the environment
/// (SLURM_JOB_NUM_NODES) describes.
LaunchPlace launch_place(const CellConfig& run);

/// Whether ranks would start by srun, so that it matters what its MPI is.
bool asks_for_mpi(const LaunchPlace& place);

/// The kinds that `srun --mpi=list` lists, on stdout or stderr.
std::vector<std::string> mpi_kinds(const std::string& text);

/// Chooses the PMIx by which srun starts Open MPI's ranks. @param kinds  mpi_kinds(); empty: srun
/// did not say, and "pmix" is tried. @throws UserError (BadConfig) if resources.launcher is srun
/// and there is none.
void choose_mpi(LaunchPlace& place, const std::vector<std::string>& kinds);

/// Whether a launch of so many ranks may have no other beside it: mpirun over several nodes takes
/// the nodes of the allocation in their order, whoever else is on them.
bool runs_alone(const LaunchPlace& place, std::int64_t ranks);

/// The command of a launch, and what its processes find in their environment.
struct LaunchCommand {
  LauncherKind kind = LauncherKind::Direct;
  std::vector<std::string> words;
  std::map<std::string, std::string> variables;
  bool elsewhere = false;  // ranks may run on other nodes than this one
};

/// A single rank on this node needs no launcher. Across nodes everything goes by srun: `--exact`
/// with the cores, memory and cards of this launch alone, or steps would wait for each other. Where
/// its srun has no PMIx, several ranks go by mpirun, alone, and a single one by `srun --mpi=none`,
/// in an environment that does not look like srun's to MPI, which would refuse to begin. mpirun
/// binds no rank: launchers side by side would bind theirs to the same cores. A launch that does
/// not fit on a node gets equal parts of as few as hold it.
/// @param worker  words that train, for one rank. @param gpus  cards of this launch; empty: none.
///                Ranks that share a card name it several times.
LaunchCommand launch_command(const LaunchPlace& place, const std::vector<std::string>& worker,
                             std::int64_t ranks, const std::vector<std::string>& gpus);

}  // namespace depthgrid
