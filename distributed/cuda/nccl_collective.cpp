#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAStream.h>

#include "core/base/error.hpp"
#include "core/base/unique_handle.hpp"
#include "distributed/cuda/plugin_parts.hpp"
#include "distributed/poll.hpp"

namespace depthgrid {
namespace {

using Clock = std::chrono::steady_clock;

void check(ncclResult_t code, const char* call, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  throw BackendError("NCCL", call, code,
                     std::string(ncclGetErrorString(code)) + "; " + ncclGetLastError(nullptr), file,
                     line);
}

struct NcclTraits {
  using Handle = ncclComm_t;
  static Handle null() noexcept { return nullptr; }
  // Abort, not destroy: destroy waits for work that a dead peer will never finish.
  // It may itself hang (NVIDIA/nccl#1013); then the process ends as hung, after the time that an
  // abort of a healthy group takes many times over.
  static void release(Handle comm) noexcept {
    const auto aborted = std::make_shared<std::atomic<bool>>(false);
    std::thread([aborted] {
      std::this_thread::sleep_for(std::chrono::seconds(5));
      if (!*aborted) _exit(static_cast<int>(ExitCode::Hang));
    }).detach();
    ncclCommAbort(comm);
    *aborted = true;
  }
};
using NcclComm = UniqueHandle<NcclTraits>;

/// Waits until the last call of a non-blocking communicator has taken effect.
void finish_call(NcclComm& comm, const char* call, Clock::time_point deadline) {
  ncclResult_t state = ncclInProgress;
  const bool finished = poll_until(deadline, [&] {
    check(ncclCommGetAsyncError(comm.get(), &state), "ncclCommGetAsyncError");
    check(state, call);
    return state != ncclInProgress;
  });
  if (finished) return;
  comm.reset();  // aborts the group
  throw BackendError("NCCL", call, state, "timeout");
}

/// Non-blocking: only such a communicator can be aborted at any point.
NcclComm connect(Collective& bootstrap, std::chrono::milliseconds timeout) {
  at::Tensor bytes = at::empty({NCCL_UNIQUE_ID_BYTES}, at::TensorOptions().dtype(at::kByte));
  auto* id = static_cast<ncclUniqueId*>(bytes.data_ptr());
  if (bootstrap.rank() == 0) check(ncclGetUniqueId(id), "ncclGetUniqueId");
  bootstrap.broadcast(bytes, 0);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t raw = nullptr;
  check(ncclCommInitRankConfig(&raw, bootstrap.size(), *id, bootstrap.rank(), &config),
        "ncclCommInitRankConfig");
  NcclComm comm(raw);
  finish_call(comm, "ncclCommInitRankConfig", Clock::now() + timeout);
  return comm;
}

ncclDataType_t nccl_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return ncclFloat32;
    case at::kBFloat16:
      return ncclBfloat16;
    case at::kDouble:
      return ncclFloat64;
    case at::kInt:
      return ncclInt32;
    case at::kLong:
      return ncclInt64;
    case at::kByte:
      return ncclUint8;
    default:
      throw ShapeError(std::string("NCCL: unsupported dtype ") + c10::toString(type));
  }
}

std::size_t count_of(const at::Tensor& x) {
  if (!x.is_contiguous() || !x.device().is_cuda()) {
    throw ShapeError("NCCL collectives take contiguous CUDA tensors");
  }
  return static_cast<std::size_t>(x.numel());
}

class NcclCollective final : public Collective {
 public:
  NcclCollective(NcclComm comm, std::chrono::milliseconds timeout)
      : comm_(std::move(comm)), timeout_(timeout) {
    check(ncclCommUserRank(comm_.get(), &rank_), "ncclCommUserRank");
    check(ncclCommCount(comm_.get(), &size_), "ncclCommCount");
  }

  std::string_view name() const noexcept override { return "nccl"; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }

  void all_reduce(at::Tensor& x, ReduceOp op) override {
    queued(ncclAllReduce(x.data_ptr(), x.data_ptr(), count_of(x), nccl_type(x.scalar_type()),
                         op == ReduceOp::Max ? ncclMax : ncclSum, comm_.get(), stream()),
           "ncclAllReduce");
  }

  void broadcast(at::Tensor& x, int root) override {
    queued(ncclBroadcast(x.data_ptr(), x.data_ptr(), count_of(x), nccl_type(x.scalar_type()), root,
                         comm_.get(), stream()),
           "ncclBroadcast");
  }

  void all_gather_into(at::Tensor& all, const at::Tensor& mine) override {
    expect_elements(all, mine.numel() * size_);
    queued(ncclAllGather(mine.data_ptr(), all.data_ptr(), count_of(mine),
                         nccl_type(mine.scalar_type()), comm_.get(), stream()),
           "ncclAllGather");
  }

  void all_to_all(at::Tensor& theirs, const at::Tensor& mine) override {
    expect_elements(theirs, mine.numel());
    expect_elements(mine, mine.numel() / size_ * size_);
    const std::size_t slice = count_of(mine) / static_cast<std::size_t>(size_);
    const std::size_t bytes = slice * mine.element_size();
    const ncclDataType_t type = nccl_type(mine.scalar_type());
    check(ncclGroupStart(), "ncclGroupStart");
    for (int peer = 0; peer < size_; ++peer) {
      const std::size_t begin = static_cast<std::size_t>(peer) * bytes;
      check(ncclSend(static_cast<const char*>(mine.data_ptr()) + begin, slice, type, peer,
                     comm_.get(), stream()),
            "ncclSend");
      check(ncclRecv(static_cast<char*>(theirs.data_ptr()) + begin, slice, type, peer, comm_.get(),
                     stream()),
            "ncclRecv");
    }
    queued(ncclGroupEnd(), "ncclGroupEnd");
  }

  std::unique_ptr<Collective> split(int color, int key) override {
    ncclComm_t raw = nullptr;
    check(ncclCommSplit(comm_.get(), color, key, &raw, nullptr), "ncclCommSplit");
    finish_call(comm_, "ncclCommSplit", Clock::now() + timeout_);
    return std::make_unique<NcclCollective>(NcclComm(raw), timeout_);
  }

  void barrier() override {
    at::Tensor one = at::zeros({1}, at::TensorOptions().dtype(at::kInt).device(at::kCUDA));
    all_reduce(one, ReduceOp::Sum);
    wait(timeout_);
  }

  /// A plain cudaStreamSynchronize would hang forever if a peer dies.
  void wait(std::chrono::milliseconds timeout) override {
    cudaError_t state = cudaErrorNotReady;
    ncclResult_t async = ncclSuccess;
    const bool ended = poll_until(Clock::now() + timeout, [&] {
      state = cudaStreamQuery(stream());
      if (state == cudaSuccess) return true;
      ncclCommGetAsyncError(comm_.get(), &async);
      return state != cudaErrorNotReady || async != ncclSuccess;
    });
    if (state == cudaSuccess) return;
    comm_.reset();  // aborts the group
    throw BackendError("NCCL", ended ? "wait" : "wait: timeout", async, cudaGetErrorString(state));
  }

 private:
  static void expect_elements(const at::Tensor& x, std::int64_t count) {
    if (x.numel() != count) {
      throw ShapeError("NCCL: expected " + std::to_string(count) + " elements, got " +
                       std::to_string(x.numel()));
    }
  }

  static cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

  /// A non-blocking communicator may return "in progress" from the enqueueing call itself.
  void queued(ncclResult_t code, const char* call) {
    check(code, call);
    if (code == ncclInProgress) finish_call(comm_, call, Clock::now() + timeout_);
  }

  NcclComm comm_;
  std::chrono::milliseconds timeout_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<Collective> connect_nccl(Collective& bootstrap, std::chrono::milliseconds timeout) {
  return std::make_unique<NcclCollective>(connect(bootstrap, timeout), timeout);
}

std::string nccl_version() {
  int number = 0;
  if (ncclGetVersion(&number) != ncclSuccess) return "";
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

}  // namespace depthgrid
