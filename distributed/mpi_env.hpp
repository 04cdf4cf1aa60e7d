#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/exit_code.hpp"

namespace depthgrid {

class Collective;

/// "Open MPI v4.1.4": of the library that is loaded, initialised or not.
std::string mpi_version();

/// Initialises MPI for as long as it lives. Make one, first thing in main(); everything that holds
/// a communicator must die before it.
class MpiEnv {
 public:
  /// Asks for MPI_THREAD_FUNNELED: only the thread that made it may call MPI.
  /// @throws BackendError if MPI cannot be initialised, or not with that level.
  MpiEnv(int& argc, char**& argv);
  ~MpiEnv();
  MpiEnv(const MpiEnv&) = delete;
  MpiEnv& operator=(const MpiEnv&) = delete;

  /// All ranks. CUDA tensors are staged through host memory.
  /// @param largest_count  elements handed to one MPI call (a C int); longer tensors go in pieces.
  std::unique_ptr<Collective> world(std::int64_t largest_count = std::int64_t{1} << 30);

  /// Position among the ranks of this host, and their number, as MPI itself finds them (under
  /// mpirun inside a batch script SLURM_LOCALID is 0 on all ranks).
  int local_rank() const noexcept { return local_rank_; }
  int local_size() const noexcept { return local_size_; }

  /// Ends all ranks at once, from any state: what main() does with an error that only this rank
  /// has, since the others wait for it inside a collective call.
  [[noreturn]] static void abort(ExitCode code) noexcept;

 private:
  int local_rank_ = 0;
  int local_size_ = 1;
};

}  // namespace depthgrid
