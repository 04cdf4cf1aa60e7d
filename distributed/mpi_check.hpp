#pragma once

namespace depthgrid {

/// @param code  return value of an MPI call (communicators here have MPI_ERRORS_RETURN).
/// @throws BackendError with MPI's own text unless it is MPI_SUCCESS.
void check_mpi(int code, const char* call, const char* file = __builtin_FILE(),
               int line = __builtin_LINE());

}  // namespace depthgrid
