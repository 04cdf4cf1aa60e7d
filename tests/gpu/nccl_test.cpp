#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "distributed/bucket_sync.hpp"
#include "tests/gpu/gpu_case.hpp"
#include "tests/support/thread_group.hpp"

namespace depthgrid::testing {
namespace nccl_test {

using namespace std::chrono_literals;
constexpr auto kJoin = std::chrono::milliseconds(60000);

/// NCCL knows no rehearsal on the CPU.
class Nccl : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device_.is_cpu()) GTEST_SKIP() << "NCCL needs a GPU";
  }

  static bool has_two() { return find_gpus().count >= 2; }
};

/// Gradients of one rank, of many magnitudes, so that the order of a sum shows in its bits.
at::Tensor gradients_of(int rank, std::int64_t n) {
  const at::Tensor i = at::arange(n, at::kFloat);
  return ((i * (rank + 1)).sin() * (i * 0.37 + rank).cos().exp() * 1e3).contiguous();
}

TEST_F(Nccl, AGroupOfOneSumsToItself) {
  const auto self = make_self_collective();
  const auto nccl = make_nccl_collective(*self, kJoin);
  EXPECT_EQ(nccl->size(), 1);
  at::Tensor x = gradients_of(0, 1000).to(device_);
  nccl->all_reduce(x, ReduceOp::Sum);
  nccl->wait(kPeerTimeout);
  EXPECT_TRUE(at::equal(x.cpu(), gradients_of(0, 1000)));
}

TEST_F(Nccl, AGroupThatIsNoLongerNeededIsAbortedWithinItsDeadline) {
  const auto self = make_self_collective();
  auto nccl = make_nccl_collective(*self, kJoin);
  at::Tensor x = at::ones({1 << 20}, at::TensorOptions().device(device_));
  nccl->all_reduce(x, ReduceOp::Sum);
  const Stopwatch clock;
  nccl.reset();
  EXPECT_LT(clock.seconds(), 5) << "then the process would have ended as hung";
}

TEST_F(Nccl, TwoCardsSumToTheBitsOfTheHostPath) {
  if (!has_two()) GTEST_SKIP() << "needs two GPUs";
  ThreadGroup ranks(2);
  const auto problems = ranks.run([&](Collective& control) {
    const int rank = control.rank();
    use_device(rank);
    const auto nccl = make_nccl_collective(control, kJoin);
    for (const std::int64_t n : {1, 7, 1000, 100003}) {
      at::Tensor host = gradients_of(rank, n);
      at::Tensor card = host.to(at::Device(at::kCUDA, static_cast<at::DeviceIndex>(rank)));
      BucketSync by_host(control, control, 4096), by_nccl(*nccl, control, 4096);
      by_host.sum(host);
      by_nccl.sum(card);
      EXPECT_TRUE(at::equal(card.cpu(), host)) << n << " numbers, rank " << rank;
    }
    control.barrier();
  });
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
}

TEST_F(Nccl, ARankWhosePeerDoesNotComeGivesUpAtItsDeadline) {
  if (!has_two()) GTEST_SKIP() << "needs two GPUs";
  ThreadGroup ranks(2);
  double waited = 0;
  ranks.run([&](Collective& control) {
    use_device(control.rank());
    const auto nccl = make_nccl_collective(control, kJoin);
    if (control.rank() == 0) {
      at::Tensor x = at::ones({1000}, at::TensorOptions().device(at::Device(at::kCUDA, 0)));
      nccl->all_reduce(x, ReduceOp::Sum);
      const Stopwatch clock;
      EXPECT_THROW(nccl->wait(2s), BackendError);
      waited = clock.seconds();
    }
    control.barrier();
  });
  EXPECT_GE(waited, 2);
  EXPECT_LT(waited, 2 + 5) << "the abort itself took too long";
}

}  // namespace nccl_test
}  // namespace depthgrid::testing
