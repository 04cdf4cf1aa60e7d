#pragma once

#include <cstdint>
#include <memory>

#include "distributed/collective.hpp"

namespace depthgrid {

/// A group of its own, with the ranks of MPI_COMM_WORLD. MPI must be initialised (MpiEnv) and must
/// outlive it. Calls block; CUDA tensors are staged through host memory; bfloat16 is refused,
/// because MPI has no such type.
/// @param largest_count  elements handed to one MPI call, 1 ... INT_MAX; longer tensors go in
///                       pieces.
/// @throws BackendError if MPI reports a failure.
std::unique_ptr<Collective> make_mpi_world(std::int64_t largest_count);

}  // namespace depthgrid
