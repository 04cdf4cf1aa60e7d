#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

enum class ReduceOp : std::uint8_t { Sum, Max };

/// A group of ranks that includes this process.
///
/// Every call is collective: all ranks make it, in the same order, with equal shapes. In a group
/// of one every call is the identity, so callers never branch on size(). Tensors are contiguous;
/// dtypes are float32, float64, int32, int64 and uint8 (nccl: also bfloat16).
class Collective {
 public:
  virtual ~Collective() = default;

  virtual std::string_view name() const noexcept = 0;  // "self", "mpi" or "nccl"
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  /// In place, ordered after earlier work on the current stream; see wait(). The library chooses
  /// the order of summation: use BucketSync for the same bits in every run.
  /// @throws BackendError if the library reports a failure; ShapeError for an unsupported tensor.
  virtual void all_reduce(at::Tensor& x, ReduceOp op) = 0;
  virtual void broadcast(at::Tensor& x, int root) = 0;

  /// @param mine  (n, ...) on each rank. @param all  (size() * n, ...), filled in rank order.
  virtual void all_gather_into(at::Tensor& all, const at::Tensor& mine) = 0;

  /// Slice r of `mine` goes to rank r; slice s of `theirs` comes from rank s.
  /// @param mine, theirs  (size() * n, ...), different memory.
  virtual void all_to_all(at::Tensor& theirs, const at::Tensor& mine) = 0;

  /// Ranks with equal `color` (>= 0) form a group, ordered by `key`.
  virtual std::unique_ptr<Collective> split(int color, int key) = 0;

  /// Returns once every rank has called it.
  virtual void barrier() = 0;

  /// Returns once this rank's queued collectives are complete.
  /// @throws BackendError after `timeout`; the group is then aborted and unusable.
  virtual void wait(std::chrono::milliseconds timeout) = 0;
};

/// How long a rank waits for its peers before it gives them up: longer than any pause of a peer
/// that works, since ranks meet through the host before each step.
inline constexpr std::chrono::minutes kPeerTimeout{5};

/// A group of one.
std::unique_ptr<Collective> make_self_collective();

/// @param mine  (n, ...) on each rank, no scalar (ShapeError).
/// @return (size() * n, ...), in rank order.
at::Tensor all_gather(Collective& group, const at::Tensor& mine);

/// Maximum and sum of all ranks' `value`. These and the two below need a group that carries host
/// tensors ("self" or "mpi").
std::int64_t largest(Collective& group, std::int64_t value);
std::int64_t total(Collective& group, std::int64_t value);

/// Returns `root`'s text on every rank; any bytes, any length.
std::string broadcast_text(Collective& group, const std::string& text, int root);

/// Every rank's text, in rank order, on every rank.
std::vector<std::string> gather_text(Collective& group, const std::string& text);

}  // namespace depthgrid
