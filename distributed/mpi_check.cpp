#include "distributed/mpi_check.hpp"

#include <array>
#include <string>

#include <mpi.h>

#include "core/base/error.hpp"

namespace depthgrid {

void check_mpi(int code, const char* call, const char* file, int line) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw BackendError("MPI", call, code, {text.data(), static_cast<std::size_t>(length)}, file,
                     line);
}

}  // namespace depthgrid
