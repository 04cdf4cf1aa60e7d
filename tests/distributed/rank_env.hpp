#pragma once

#include "distributed/mpi_env.hpp"

namespace depthgrid {

/// The MPI of this test program; lives as long as its main().
MpiEnv& rank_env();

}  // namespace depthgrid
