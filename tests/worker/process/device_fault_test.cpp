#include "worker/process/device_fault.hpp"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include <c10/util/Exception.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace device_fault_test {

TEST(DeviceFault, TellsAKernelThatWentAstrayFromABrokenCard) {
  const auto cuda = [](long code) {
    return device_fault_of(BackendError("CUDA", "update", code, ""));
  };
  EXPECT_EQ(cuda(700), DeviceFault::Kernel);  // illegal address
  EXPECT_EQ(cuda(710), DeviceFault::Kernel);  // assertion
  EXPECT_EQ(cuda(214), DeviceFault::Node);    // uncorrectable ECC error
  EXPECT_EQ(cuda(999), DeviceFault::Node);    // unknown
  EXPECT_EQ(cuda(702), DeviceFault::Node);    // no time for the launch
  EXPECT_EQ(cuda(709), DeviceFault::Node);    // the context is gone
  EXPECT_EQ(cuda(1), DeviceFault::None);      // invalid value: the call was wrong, the card is well
  const c10::SourceLocation here{__func__, __FILE__, __LINE__};
  EXPECT_EQ(device_fault_of(c10::AcceleratorError(here, 700, "CUDA error: an illegal …")),
            DeviceFault::Kernel);
  EXPECT_EQ(device_fault_of(c10::AcceleratorError(here, 719, "CUDA error: unspecified …")),
            DeviceFault::Node);
}

TEST(DeviceFault, WhatConnectsRanksIsOfEitherNode) {
  EXPECT_EQ(device_fault_of(BackendError("NCCL", "wait", 6, "ncclRemoteError")), DeviceFault::Link);
  EXPECT_EQ(device_fault_of(BackendError("MPI", "MPI_Allreduce", 15, "")), DeviceFault::Link);
  EXPECT_EQ(device_fault_of(std::runtime_error("NCCL error in: ProcessGroup")), DeviceFault::Link);
  EXPECT_TRUE(is_of_machine(DeviceFault::Link));
  EXPECT_EQ(device_fault_of(BackendError("NCCL", "ncclAllReduce", 1, "unhandled cuda error")),
            DeviceFault::Node)
      << "its own card";
  EXPECT_EQ(device_fault_of(BackendError("HDF5", "H5Fopen", -1, "")), DeviceFault::None);
}

TEST(DeviceFault, KnowsTextsOfErrorsWithoutANumber) {
  EXPECT_EQ(device_fault_of(std::runtime_error("CUDA error: device-side assert triggered")),
            DeviceFault::Kernel);
  EXPECT_EQ(device_fault_of(std::runtime_error(
                "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(…)`")),
            DeviceFault::Node);
  EXPECT_EQ(device_fault_of(std::runtime_error("shapes differ")), DeviceFault::None);
}

TEST(DeviceFault, ShortageOfMemoryIsNone) {
  EXPECT_EQ(device_fault_of(std::bad_alloc()), DeviceFault::None);
  EXPECT_EQ(device_fault_of(BackendError("CUDA", "cudaMalloc", 2, "")), DeviceFault::None);
  EXPECT_EQ(device_fault_of(BackendError("NCCL", "ncclAllGather", 1, "out of memory")),
            DeviceFault::None);
}

}  // namespace device_fault_test
}  // namespace depthgrid
