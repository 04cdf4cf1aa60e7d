#include "distributed/mpi_env.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <mpi.h>

#include <ATen/ops/empty.h>

#include "core/base/error.hpp"
#include "core/base/unique_handle.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {
namespace {

/// @param code  return value of an MPI call (communicators here have MPI_ERRORS_RETURN).
/// @throws BackendError with MPI's own text unless it is MPI_SUCCESS.
void check_mpi(int code, const char* call, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw BackendError("MPI", call, code, {text.data(), static_cast<std::size_t>(length)}, file,
                     line);
}

struct CommTraits {
  using Handle = MPI_Comm;
  static Handle null() noexcept { return MPI_COMM_NULL; }
  static void release(Handle comm) noexcept {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) {
      std::fputs("depthgrid: communicator outlived MpiEnv\n", stderr);
    } else if (MPI_Comm_free(&comm) != MPI_SUCCESS) {
      std::fputs("depthgrid: MPI_Comm_free failed\n", stderr);
    }
  }
};

MPI_Datatype mpi_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kInt:
      return MPI_INT32_T;
    case at::kLong:
      return MPI_INT64_T;
    case at::kByte:
      return MPI_UINT8_T;
    case at::kBFloat16:
      throw ShapeError(
          "MPI has no bfloat16: gradients, moments and parameters cross ranks in float32; "
          "convert the tensor first");
    default:
      throw ShapeError(std::string("MPI: unsupported dtype ") + c10::toString(type));
  }
}

/// Host memory of a tensor during one call: the tensor's own on the CPU, else a copy.
class Staged {
 public:
  explicit Staged(const at::Tensor& x)
      : original_(x), host_(x.device().is_cpu() ? x : x.cpu()), type_(mpi_type(x.scalar_type())) {
    if (!x.is_contiguous()) throw ShapeError("MPI collectives take contiguous tensors");
  }

  char* at(std::int64_t element) const {
    return static_cast<char*>(host_.data_ptr()) + element * host_.element_size();
  }
  std::int64_t count() const { return host_.numel(); }
  MPI_Datatype type() const { return type_; }

  /// Copies what the call wrote back to the tensor's device.
  void write_back() {
    if (!original_.device().is_cpu()) original_.copy_(host_);
  }

 private:
  at::Tensor original_;
  at::Tensor host_;
  MPI_Datatype type_;
};

class MpiCollective final : public Collective {
 public:
  MpiCollective(MPI_Comm owned, std::int64_t largest_count)
      : comm_(owned), largest_count_(largest_count) {
    check_mpi(MPI_Comm_set_errhandler(comm_.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm_.get(), &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_.get(), &size_), "MPI_Comm_size");
  }

  std::string_view name() const noexcept override { return "mpi"; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }

  void all_reduce(at::Tensor& x, ReduceOp op) override {
    Staged staged(x);
    const MPI_Op operation = op == ReduceOp::Max ? MPI_MAX : MPI_SUM;
    in_pieces(staged.count(), [&](std::int64_t begin, int count) {
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, staged.at(begin), count, staged.type(), operation,
                              comm_.get()),
                "MPI_Allreduce");
    });
    staged.write_back();
  }

  void broadcast(at::Tensor& x, int root) override {
    Staged staged(x);
    in_pieces(staged.count(), [&](std::int64_t begin, int count) {
      check_mpi(MPI_Bcast(staged.at(begin), count, staged.type(), root, comm_.get()), "MPI_Bcast");
    });
    staged.write_back();
  }

  void all_gather_into(at::Tensor& all, const at::Tensor& mine) override {
    expect_ratio(all, mine, size_);
    const Staged from(mine);
    Staged to(all);
    const std::int64_t stride = from.count();
    if (stride <= largest_count_) {
      check_mpi(MPI_Allgather(from.at(0), static_cast<int>(stride), from.type(), to.at(0),
                              static_cast<int>(stride), to.type(), comm_.get()),
                "MPI_Allgather");
    } else {
      std::copy(from.at(0), from.at(stride), to.at(rank_ * stride));
      for (int root = 0; root < size_; ++root) {
        in_pieces(stride, [&](std::int64_t begin, int count) {
          check_mpi(MPI_Bcast(to.at(root * stride + begin), count, to.type(), root, comm_.get()),
                    "MPI_Bcast");
        });
      }
    }
    to.write_back();
  }

  void all_to_all(at::Tensor& theirs, const at::Tensor& mine) override {
    expect_ratio(theirs, mine, 1);
    if (mine.numel() % size_ != 0) {
      throw ShapeError("all_to_all: expected a multiple of " + std::to_string(size_) +
                       " elements, got " + std::to_string(mine.numel()));
    }
    const Staged from(mine);
    Staged to(theirs);
    const std::int64_t stride = from.count() / size_;
    // In round k every rank sends to the rank k places ahead: no cycle of waiting ranks.
    for (int k = 0; k < size_; ++k) {
      const int target = (rank_ + k) % size_;
      const int source = (rank_ - k + size_) % size_;
      in_pieces(stride, [&](std::int64_t begin, int count) {
        check_mpi(MPI_Sendrecv(from.at(target * stride + begin), count, from.type(), target, 0,
                               to.at(source * stride + begin), count, to.type(), source, 0,
                               comm_.get(), MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
      });
    }
    to.write_back();
  }

  std::unique_ptr<Collective> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm_.get(), color, key, &part), "MPI_Comm_split");
    return std::make_unique<MpiCollective>(part, largest_count_);
  }

  void barrier() override { check_mpi(MPI_Barrier(comm_.get()), "MPI_Barrier"); }

  void wait(std::chrono::milliseconds) override {}  // blocking calls: nothing is queued

 private:
  static void expect_ratio(const at::Tensor& to, const at::Tensor& from, int ratio) {
    if (to.numel() != ratio * from.numel() || to.scalar_type() != from.scalar_type()) {
      throw ShapeError("MPI: expected a target of " + std::to_string(ratio * from.numel()) +
                       " elements of the source's dtype, got " + std::to_string(to.numel()));
    }
  }

  /// MPI takes counts as int.
  template <class Call>
  void in_pieces(std::int64_t count, const Call& call) const {
    for (std::int64_t begin = 0; begin < count; begin += largest_count_) {
      call(begin, static_cast<int>(std::min(largest_count_, count - begin)));
    }
  }

  UniqueHandle<CommTraits> comm_;
  std::int64_t largest_count_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string all(text.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));  // the rest describes the package
}

MpiEnv::MpiEnv(int& argc, char**& argv) {
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED) {
    throw BackendError("MPI", "MPI_Init_thread", provided,
                       "this MPI does not offer MPI_THREAD_SERIALIZED");
  }
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_rank(host, &local_rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(host, &local_size_), "MPI_Comm_size");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
}

MpiEnv::~MpiEnv() {
  MPI_Finalize();
}

std::unique_ptr<Collective> MpiEnv::world(std::int64_t largest_count) {
  if (largest_count < 1 || largest_count > INT_MAX) {
    throw Error("MPI: pieces of " + std::to_string(largest_count) + " elements");
  }
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  return std::make_unique<MpiCollective>(copy, largest_count);
}

void MpiEnv::abort(ExitCode code) noexcept {
  int running = 0;
  int finished = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&finished);
  if (running != 0 && finished == 0) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

}  // namespace depthgrid
