// The branches of GPUs, run on the CPU: with DEPTHGRID_TEST_DEVICE_BRANCHES=1 every test of this
// program runs without the CPU's own kernels. One entry of ctest does so for the tests of numbers
// (tests/CMakeLists.txt).
#include "models/ops/host_kernels.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

#include <ATen/record_function.h>
#include <torch/types.h>

#include "models/ops/gelu.hpp"

namespace depthgrid::testing {
namespace host_kernels_test {

bool wanted() {
  const char* const value = std::getenv("DEPTHGRID_TEST_DEVICE_BRANCHES");
  return value != nullptr && std::string_view(value) == "1";
}

class DeviceBranchesInEachTest final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    if (wanted()) guard_.emplace();
  }
  void OnTestEnd(const ::testing::TestInfo&) override { guard_.reset(); }

  std::optional<WithoutHostKernels> guard_;
};

[[maybe_unused]] const bool kListens = [] {
  // The list of listeners owns what is appended to it.
  ::testing::UnitTest::GetInstance()->listeners().Append(
      std::make_unique<DeviceBranchesInEachTest>().release());
  return true;
}();

TEST(HostKernels, ServeTensorsOnTheCpuUnlessThisRunIsWithoutThem) {
  EXPECT_EQ(host_kernels_serve(torch::ones({2})), !wanted());
}

TEST(HostKernels, AreOffWhileAGuardLivesAndThenAsBefore) {
  const at::Tensor x = torch::ones({2});
  const bool before = host_kernels_serve(x);
  {
    const WithoutHostKernels outer;
    EXPECT_FALSE(host_kernels_serve(x));
    {
      const WithoutHostKernels inner;
    }
    EXPECT_FALSE(host_kernels_serve(x));
  }
  EXPECT_EQ(host_kernels_serve(x), before);
}

thread_local bool saw_gelu = false;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& fn) {
  saw_gelu = saw_gelu || std::string_view(fn.name()) == "aten::gelu";
  return nullptr;
}

TEST(HostKernels, WithoutThemAnOperationIsThatOfLibTorch) {
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  const at::Tensor x = torch::linspace(-3, 3, 50);
  saw_gelu = false;
  const at::Tensor own = depthgrid::gelu(GeluForm::Erf, x);
  EXPECT_EQ(saw_gelu, wanted());
  const WithoutHostKernels guard;
  EXPECT_TRUE(torch::allclose(depthgrid::gelu(GeluForm::Erf, x), own, 1e-5, 1e-6));
  EXPECT_TRUE(saw_gelu);
  at::removeCallback(handle);
}

}  // namespace host_kernels_test
}  // namespace depthgrid::testing
