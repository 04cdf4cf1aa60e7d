#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "distributed/collective.hpp"
#include "distributed/gpu_card.hpp"

namespace depthgrid {

/// What one rank sees of GPUs.
struct RankGpus {
  int count = 0;
  std::string problem;  ///< why the count is 0
  bool meant = false;   ///< gpu_is_meant()
};

/// Whether who started this process meant it to have a GPU: CUDA_VISIBLE_DEVICES names one, or
/// Slurm gave the job or its step one, or the machine shows one. A CUDA_VISIBLE_DEVICES that names
/// none (empty, -1, NoDevFiles) means that no GPU is wanted, whatever else there is.
/// @param shown  the machine shows a GPU.
bool gpu_is_meant(bool shown);

/// Whether a run trains on GPUs. All ranks decide the same, since all of them see the same `ranks`:
/// a CPU and a GPU in one team would not even call the same collectives.
/// @param wanted  word of resources.device. @param ranks  of the whole run, at least one.
/// @throws UserError (BadConfig) with the first rank's reason if `wanted` is "cuda" and a rank sees
///         no GPU, or "auto" and a rank sees none where one is meant, or some ranks see one and
///         others none.
bool trains_on_gpus(std::string_view wanted, const std::vector<RankGpus>& ranks);

/// Device index for one rank: its local rank, counted again from 0 where there are fewer GPUs than
/// ranks. Neighbours, which form a team, share a GPU last.
/// @param devices  number of GPUs that this rank sees, at least 1 (one alone: bound by the
///                 launcher).
int device_for(int devices, int local_rank);

/// The GPUs of all ranks of a run or of a team, by rank.
class CardMap {
 public:
  struct Place {
    std::string host;
    GpuCard card;
  };

  /// Collective over `group` (host tensors).
  CardMap(Collective& group, const Place& mine);

  /// @param places  by rank.
  explicit CardMap(std::vector<Place> places) : places_(std::move(places)) {}

  /// Number of ranks on the card of `rank`, itself included. Cards are the same if their uuids are,
  /// else if host and bus id are.
  int sharers(int rank) const;

  /// True if no two ranks share a card, which is what NCCL needs.
  bool distinct() const;

  /// "GPU node7 0000:3b:00.0 is shared by ranks 0 and 1, ..." for each shared card, with the
  /// environment variables that decide which GPUs a rank sees; none if distinct().
  std::optional<std::string> sharing_note() const;

 private:
  std::vector<Place> places_;
};

/// Part of a card's memory for each of `sharers` ranks; 1 for a rank alone. Some is left for what
/// CUDA keeps per process beside LibTorch's allocator.
double memory_share(int sharers);

/// Number of CPUs that this process may run on.
int usable_cpus();

/// A warning if `threads` exceed `cpus`, else none: threads that share a core wait for each other
/// at every barrier, which costs a factor of ten or more, not of two.
std::optional<std::string> affinity_warning(int cpus, int threads);

/// The problem, if the launcher (mpirun or srun) started a number of ranks other than `world_size`:
/// MPI then does not recognise the launcher, and every rank would train alone.
std::optional<std::string> world_size_problem(int world_size);

}  // namespace depthgrid
