#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/exit_code.hpp"

namespace depthgrid {

class Collective;

/// Version of the loaded library ("Open MPI v4.1.4"), initialised or not.
std::string mpi_version();

/// Initialises MPI for its lifetime. Make one at the start of main(); everything that holds a
/// communicator must be destroyed before it.
class MpiEnv {
 public:
  /// Requests MPI_THREAD_FUNNELED: only the constructing thread may call MPI.
  /// @throws BackendError if MPI cannot be initialised with that thread level.
  MpiEnv(int& argc, char**& argv);
  ~MpiEnv();
  MpiEnv(const MpiEnv&) = delete;
  MpiEnv& operator=(const MpiEnv&) = delete;

  /// A group of all ranks. Calls block; CUDA tensors are staged through host memory; MPI has no
  /// bfloat16, so it is refused.
  /// @param largest_count  most elements per MPI call, 1 ... INT_MAX; longer tensors are split.
  /// @throws BackendError if MPI reports a failure; Error for a `largest_count` out of range.
  std::unique_ptr<Collective> world(std::int64_t largest_count = std::int64_t{1} << 30);

  /// Rank among those of this host, and their number, from MPI itself (under mpirun inside a batch
  /// script SLURM_LOCALID is 0 on all ranks).
  int local_rank() const noexcept { return local_rank_; }
  int local_size() const noexcept { return local_size_; }

  /// Ends all ranks at once, from any state: main()'s way out of an error on this rank alone, since
  /// the others wait for it inside a collective call.
  [[noreturn]] static void abort(ExitCode code) noexcept;

 private:
  int local_rank_ = 0;
  int local_size_ = 1;
};

}  // namespace depthgrid
