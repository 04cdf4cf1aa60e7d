#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/gradient_sync.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "worker/model/fused_model.hpp"

namespace depthgrid {

/// Seconds of a cell's attempts so far, kept in its checkpoints. Of what the cells of a job do
/// together each is charged its share, so that the sum over them is the job's time.
struct CellClock {
  double wall = 0;                                        // in training, of the whole job
  double train = 0, eval = 0, checkpoint = 0, probe = 0;  // shares
  double device = 0;                                      // share, times the ranks
  double lost = 0;                                        // training redone, of the whole job
  std::map<std::string, double> probes = {};              // of `probe`, by name of the probe
};

/// Row e of an (E, P) arena in host memory.
std::vector<float> host_row(const at::Tensor& arena, std::size_t e);

/// "cpu" or "cuda".
std::string kind_of(at::Device device);

/// State of one cell of a job for a checkpoint: parameters and moments in host memory, its clock,
/// and what its rounding depends on: the number of ranks that sum its gradients, kind of device.
class CellCheckpoint {
 public:
  CellCheckpoint(const FusedModel& job, std::size_t e, const CellClock& clock, int ranks);

  /// @param digest  of the cell's configuration. The result refers to this; keep this alive.
  CheckpointData data(std::int64_t step, std::string digest) const;

 private:
  std::vector<float> values_;
  std::vector<std::pair<std::string, std::vector<float>>> moments_;  // name, row
  CellClock clock_;
  double ranks_;
  std::string device_;
};

/// Restores parameters and moments of a job's cells on all ranks of a team. Collective.
/// @param from  (E) of the cells' checkpoints on the team's first rank, null = none; elsewhere
///              empty.
/// @throws UserError (BadData) if a checkpoint has another number of parameters.
void restore_cells(FusedModel& job, const std::vector<const LoadedCheckpoint*>& from,
                   GradientSync& team);

/// The clock that a checkpoint keeps.
CellClock clock_of(const LoadedCheckpoint& from);

}  // namespace depthgrid
