#include "worker/process/memory_use.hpp"

#include <new>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace memory_use_test {

TEST(MemoryUse, APeakCountsFromItsReset) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  {
    std::vector<char> large(kBytes);
    volatile char* const memory = large.data();
    for (std::size_t i = 0; i < kBytes; i += 4096) memory[i] = 1;
  }
  const double before = peak_memory_bytes();
  EXPECT_GT(before, static_cast<double>(kBytes));
  reset_peak_memory(at::kCPU);
  EXPECT_LE(peak_memory_bytes(), before);
  EXPECT_EQ(peak_device_memory_bytes(at::kCPU), peak_memory_bytes());
}

TEST(MemoryUse, KnowsErrorsThatMeanThatItIsOut) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(is_out_of_memory(std::runtime_error("DefaultCPUAllocator: can't allocate")));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("shapes differ")));
}

TEST(MemoryUse, KnowsWhatTheLibrariesOfAGpuSayWhenItIsOut) {
  EXPECT_TRUE(is_out_of_memory(BackendError("CUDA", "cudaMalloc", 2, "out of memory")));
  EXPECT_FALSE(is_out_of_memory(BackendError("CUDA", "update", 700, "an illegal address")));
  EXPECT_FALSE(is_out_of_memory(BackendError("MPI", "MPI_Init", 2, "no such communicator")));
  EXPECT_TRUE(is_out_of_memory(BackendError("NCCL", "ncclAllGather", 1,
                                            "unhandled cuda error; Cuda failure 2 "
                                            "'out of memory'")));
  EXPECT_FALSE(is_out_of_memory(BackendError("NCCL", "wait: timeout", 0, "not ready")));
  for (const char* text :
       {"CUDA error: out of memory",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED"}) {
    EXPECT_TRUE(is_out_of_memory(std::runtime_error(text))) << text;
  }
  for (const char* text :
       {"CUDA error: an illegal memory access was encountered",
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasSgemm(...)`"}) {
    EXPECT_FALSE(is_out_of_memory(std::runtime_error(text))) << text;
  }
}

TEST(MemoryUse, AGpuThatIsNotInUseYetHasNoPeakAndNothingToReset) {
  const at::Device gpu(at::kCUDA, 0);
  EXPECT_NO_THROW(reset_peak_memory(gpu));
  EXPECT_EQ(peak_device_memory_bytes(gpu), 0);
}

}  // namespace memory_use_test
}  // namespace depthgrid
