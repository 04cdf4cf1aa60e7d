#include "sweeps/doctor/gpu_links.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace gpu_links_test {

TEST(GpuLinks, AreThoseOfTheTopology) {
  EXPECT_EQ(links_finding("\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n").seen,
            "NVLink between all GPUs");
  EXPECT_EQ(links_finding("\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \n").seen,
            "1 of 1 pairs reach each other through the host");
}

TEST(GpuLinks, PeerAccessIsReadFromTheMatrix) {
  const Finding all = peer_finding(
      " \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n\nLegend:\n\n  X    = Self\n  OK   = "
      "Status "
      "Ok\n");
  EXPECT_EQ(all.seen, "1 of 1 pairs");
  EXPECT_TRUE(all.cure.empty());
  const Finding none = peer_finding(" \tGPU0\tGPU1\t\n GPU0\tX\tCNS\t\n GPU1\tCNS\tX\t\n");
  EXPECT_EQ(none.seen, "0 of 1 pairs (others: CNS)");
  EXPECT_FALSE(none.cure.empty());
}

constexpr const char* kLinked = R"(	linux-vdso.so.1 (0x00007ffd)
	libcudart.so.13 => /usr/local/cuda/lib64/libcudart.so.13 (0x00007f)
	libnccl.so.2 => /opt/nccl/lib/libnccl.so.2 (0x00007f)
)";

std::string asked(const std::string& path) {
  return path == "/opt/nccl/lib/libnccl.so.2" ? "2.27.3" : "";
}

TEST(GpuLinks, NcclIsTheLibraryThatThePluginIsLinkedTo) {
  const Finding found = nccl_finding(kLinked, true, asked);
  EXPECT_EQ(found.level, FindingLevel::Ok);
  EXPECT_EQ(found.seen, "2.27.3 of /opt/nccl/lib/libnccl.so.2");
}

TEST(GpuLinks, APluginThatCannotBeLoadedSaysWhichLibraryIsMissing) {
  const std::string text = "\tlibnccl.so.2 => not found\n\tlibtorch_cuda.so => not found\n";
  const Finding needed = nccl_finding(text, true, asked);
  EXPECT_EQ(needed.level, FindingLevel::Problem);
  EXPECT_NE(needed.seen.find("libnccl.so.2, libtorch_cuda.so not found"), std::string::npos);
  EXPECT_FALSE(needed.cure.empty());
  EXPECT_EQ(nccl_finding(text, false, asked).level, FindingLevel::Ok) << "without a GPU";
}

}  // namespace gpu_links_test
}  // namespace depthgrid
