#include "sweeps/slurm/node_check.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace node_check_test {

std::optional<std::string> fault(const CommandAnswer& answer, std::int64_t cards = 2) {
  return node_fault([&](const auto&, double) { return answer; }, cards);
}

TEST(NodeCheck, ANodeThatShowsItsCardsIsSound) {
  const std::string two = "GPU 0: NVIDIA H100 (UUID: GPU-1)\nGPU 1: NVIDIA H100 (UUID: GPU-2)\n";
  EXPECT_EQ(fault({.out = two, .err = ""}), std::nullopt);
  EXPECT_EQ(fault({.out = two, .err = ""}, 1), std::nullopt) << "a node may have more";
  EXPECT_NE(fault({.out = two, .err = ""}, 4)->find("2 of the 4 cards"), std::string::npos);
}

TEST(NodeCheck, ADriverThatFailsOrHangsIsAFault) {
  const auto lost =
      fault({.code = 15, .out = "Unable to determine the device handle: GPU is lost\n", .err = ""});
  EXPECT_NE(lost->find("GPU is lost"), std::string::npos);
  EXPECT_NE(fault({.late = true, .out = "", .err = ""})->find("has not answered"),
            std::string::npos);
}

TEST(NodeCheck, WithoutCardsOrToolNothingIsKnown) {
  EXPECT_EQ(fault({.code = 127, .out = "", .err = ""}), std::nullopt);
  EXPECT_EQ(fault({.code = 15, .out = "", .err = ""}, 0), std::nullopt);
}

}  // namespace node_check_test
}  // namespace depthgrid
