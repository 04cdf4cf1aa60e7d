#pragma once

#include <cstdint>
#include <memory>

#include "distributed/collective.hpp"

namespace depthgrid {

/// @param code  return value of an MPI call (communicators here have MPI_ERRORS_RETURN).
/// @throws BackendError with MPI's own text unless it is MPI_SUCCESS.
void check_mpi(int code, const char* call, const char* file = __builtin_FILE(),
               int line = __builtin_LINE());

/// A duplicate of MPI_COMM_WORLD. MPI must be initialised (MpiEnv) and must outlive it. Calls
/// block; CUDA tensors are staged through host memory; MPI has no bfloat16, so it is refused.
/// @param largest_count  most elements per MPI call, 1 ... INT_MAX; longer tensors are split.
/// @throws BackendError if MPI reports a failure; Error for a `largest_count` out of range.
std::unique_ptr<Collective> make_mpi_world(std::int64_t largest_count);

}  // namespace depthgrid
