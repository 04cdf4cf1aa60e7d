#include "distributed/mpi_env.hpp"

#include <array>
#include <cstdlib>

#include <mpi.h>

#include "core/base/error.hpp"
#include "distributed/collective.hpp"
#include "distributed/mpi_collective.hpp"

namespace depthgrid {

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string all(text.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));  // the rest describes the package
}

MpiEnv::MpiEnv(int& argc, char**& argv) {
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED) {
    throw BackendError("MPI", "MPI_Init_thread", provided,
                       "this MPI does not offer MPI_THREAD_FUNNELED");
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_rank(host, &local_rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(host, &local_size_), "MPI_Comm_size");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
}

MpiEnv::~MpiEnv() {
  MPI_Finalize();
}

std::unique_ptr<Collective> MpiEnv::world(std::int64_t largest_count) {
  return make_mpi_world(largest_count);
}

void MpiEnv::abort(ExitCode code) noexcept {
  int running = 0;
  int finished = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&finished);
  if (running != 0 && finished == 0) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

}  // namespace depthgrid
