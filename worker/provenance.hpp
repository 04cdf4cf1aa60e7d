#pragma once

#include <cstdint>
#include <string>

namespace depthgrid {

/// What an attempt says of itself at its start.
struct AttemptFacts {
  std::string job;         // id of the fused job
  std::string device;      // "cpu x1 (model name)"
  std::int64_t cells = 1;  // E
  std::int64_t ranks = 1;  // R
  std::int64_t threads = 1;
};

/// One JSON object: time, host, device, scheduler id, code version and the environment variables of
/// an allow-list (SLURM_*, NCCL_*, CUDA_*, OMP_*, OMPI_MCA_*, DEPTHGRID_*; never a token or a key).
std::string attempt_json(const AttemptFacts& facts);

/// {"libtorch": "2.11.0", "hdf5": …, "mpi": …, "compiler": …}
std::string library_versions_json();

/// "AMD EPYC 9B14", from /proc/cpuinfo; "cpu" where that says nothing.
std::string cpu_model();

/// Largest resident memory of this process so far, in bytes.
double peak_memory_bytes();

}  // namespace depthgrid
