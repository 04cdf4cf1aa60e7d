#pragma once

#include <cstdint>
#include <memory>

#include "distributed/collective.hpp"

namespace depthgrid {

/// A duplicate of MPI_COMM_WORLD. MPI must be initialised (MpiEnv) and must outlive it. Calls
/// block; CUDA tensors are staged through host memory; MPI has no bfloat16, so it is refused.
/// @param largest_count  most elements per MPI call, 1 ... INT_MAX; longer tensors are split.
/// @throws BackendError if MPI reports a failure; Error for a `largest_count` out of range.
std::unique_ptr<Collective> make_mpi_world(std::int64_t largest_count);

}  // namespace depthgrid
