#pragma once

#include <cstdint>
#include <memory>

#include <ATen/core/Tensor.h>

#include "core/train/gradient_sync.hpp"
#include "distributed/background_lane.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {

/// GradientSync over a Collective, in few buckets and with a fixed order of summation.
///
/// Each bucket is cut into R slices; rank r receives every rank's slice r (all-to-all), adds them
/// in rank order in the tensor's own dtype, and the sums are gathered. Moves as many bytes as a
/// ring all-reduce, but the bits depend neither on the library's algorithm nor on timing:
/// ((x0 + x1) + x2) + ... as one rank would accumulate them. sum() returns when the sums are there
/// (Collective::wait): work queued behind them would wait forever for a peer that has died.
///
/// A matrix whose rows lie apart (the columns that a bucket has of E cells) is packed into one
/// bucket, exchanged at once and copied back: two collectives, as for one row. Elements are added
/// one by one, so packing changes no bits. This costs two more passes over the matrix, on its
/// device, and no more memory: the workspace that is kept, bucket_bytes at most, holds what is
/// packed and what has come, half each; a larger matrix takes several exchanges.
class BucketSync final : public GradientSync {
 public:
  static constexpr std::int64_t kBucketBytes = std::int64_t{32} << 20;

  /// @param tensors       carries GPU tensors: "nccl", or "mpi", which stages them through host
  ///                      memory. Must outlive this.
  /// @param control       the same ranks in the same order, "mpi" or "self": carries host tensors
  ///                      and largest(). May be `tensors` unless that is nccl. Must outlive this.
  /// @param bucket_bytes  size of the largest bucket, and of the workspace that is kept on the
  ///                      device of what is summed: the same for any number of cells.
  /// @throws Error if the two groups have different ranks.
  /// @param beside        begin_sum() works beside the caller: for host tensors on a thread of its
  ///                      own, for which a core should be free; for a GPU's on a second stream.
  BucketSync(Collective& tensors, Collective& control, std::int64_t bucket_bytes = kBucketBytes,
             bool beside = false);

  int rank() const noexcept override { return tensors_.rank(); }
  int ranks() const noexcept override { return tensors_.size(); }
  void sum(at::Tensor& x) override;
  void begin_sum(const at::Tensor& x) override;
  void finish_sums() override;
  void broadcast(at::Tensor& x, int root) override;
  std::int64_t largest(std::int64_t value) override;

 private:
  /// A view of `count` elements of workspace like `x`, kept from call to call.
  at::Tensor workspace(const at::Tensor& x, std::int64_t count);
  Collective& carrier_of(const at::Tensor& x) { return x.device().is_cpu() ? control_ : tensors_; }
  void sum_all(Collective& carrier, const at::Tensor& x);
  void sum_flat(Collective& carrier, const at::Tensor& flat);
  void sum_rows(Collective& carrier, const at::Tensor& rows);
  void sum_slices(Collective& carrier, at::Tensor bucket, at::Tensor theirs);
  void sum_tail(Collective& carrier, at::Tensor tail);

  Collective& tensors_;
  Collective& control_;
  std::int64_t bucket_bytes_;
  at::Tensor workspace_;
  bool beside_;
  std::unique_ptr<BackgroundLane> lane_;
};

}  // namespace depthgrid
