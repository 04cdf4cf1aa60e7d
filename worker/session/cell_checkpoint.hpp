#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "distributed/collective.hpp"
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

/// Restores cell e of a job from a checkpoint. @return its clock.
/// @throws UserError (BadData) if the checkpoint has another number of parameters.
CellClock restore_cell(FusedModel& job, std::size_t e, const LoadedCheckpoint& from);

/// Sends parameters and moments of all cells from the team's first rank to the others.
void share_state(FusedModel& job, Collective& team);

}  // namespace depthgrid
