#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depthgrid {

/// Self-description of an attempt, recorded at its start.
struct AttemptFacts {
  std::string job;         // id of the fused job
  std::string device;      // "cpu x1 (model name)"
  std::int64_t cells = 1;  // E
  std::int64_t ranks = 1;  // R
  std::int64_t threads = 1;
  std::vector<std::string> logs{};  // of the team's ranks, in STORE/logs; the first rank's first
};

/// One JSON object: time, host, device, scheduler id, code version and the environment variables of
/// an allow-list (SLURM_*, NCCL_*, CUDA_*, OMP_*, MKL_*, ATEN_*, ONEDNN_*, OMPI_MCA_*,
/// DEPTHGRID_*), except those
/// whose name suggests a secret (a token, a key, a password …); user names and passwords in URLs
/// are left out.
std::string attempt_json(const AttemptFacts& facts);

/// {"libtorch": "2.11.0", "hdf5": …, "mpi": …, "compiler": …} and, where the GPU plug-in was built,
/// the versions it was built with ("cuda_toolkit", "nccl"); a run on a GPU also names those in use
/// ("cuda_runtime", "cuda_driver", and the loaded NCCL).
/// @param on_gpu  opens the plug-in.
std::string library_versions_json(bool on_gpu = false);

/// File of this process's log lines: "20260301T115802Z-node7-4711.log".
std::string log_name();

/// "avx2; LibTorch: AVX512": the instruction sets of this program's kernels and of LibTorch's. MKL
/// chooses its own.
std::string instruction_sets();

}  // namespace depthgrid
