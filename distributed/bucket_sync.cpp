#include "distributed/bucket_sync.hpp"

#include <algorithm>

#include <ATen/ops/empty.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

void require_rows(const at::Tensor& x) {
  const bool rows = x.is_contiguous() || (x.dim() == 2 && x.stride(1) == 1);
  if (!rows || !x.is_floating_point()) {
    throw ShapeError(
        "BucketSync: expected a floating-point tensor, contiguous or a matrix of contiguous rows");
  }
}

}  // namespace

BucketSync::BucketSync(Collective& tensors, Collective& control, std::int64_t bucket_bytes,
                       bool beside)
    : tensors_(tensors), control_(control), bucket_bytes_(bucket_bytes), beside_(beside) {
  if (tensors.size() != control.size() || tensors.rank() != control.rank()) {
    throw Error("BucketSync: the two groups have different ranks");
  }
}

void BucketSync::sum(at::Tensor& x) {
  require_rows(x);
  Collective& carrier = carrier_of(x);
  if (carrier.size() == 1) return;
  sum_all(carrier, x);
  carrier.wait(kPeerTimeout);
}

void BucketSync::begin_sum(const at::Tensor& x) {
  require_rows(x);
  Collective& carrier = carrier_of(x);
  if (carrier.size() == 1) return;
  if (!lane_ || lane_->device() != x.device()) lane_ = make_lane(x.device(), beside_);
  lane_->begin([this, &carrier, x] { sum_all(carrier, x); });
}

void BucketSync::finish_sums() {
  if (!lane_) return;
  Collective& carrier = lane_->device().is_cpu() ? control_ : tensors_;
  lane_->finish([&carrier] { carrier.wait(kPeerTimeout); });
}

void BucketSync::sum_all(Collective& carrier, const at::Tensor& x) {
  if (x.is_contiguous()) {
    sum_flat(carrier, x.detach().view({-1}));
  } else {
    sum_rows(carrier, x.detach());
  }
}

/// In place: a bucket is a piece of `flat`.
void BucketSync::sum_flat(Collective& carrier, const at::Tensor& flat) {
  const std::int64_t size = carrier.size();
  const std::int64_t bucket =
      std::max<std::int64_t>(1, bucket_bytes_ / (size * flat.element_size())) * size;
  const std::int64_t even = flat.numel() - flat.numel() % size;
  for (std::int64_t begin = 0; begin < even; begin += bucket) {
    const at::Tensor piece = flat.narrow(0, begin, std::min(bucket, even - begin));
    sum_slices(carrier, piece, workspace(piece, piece.numel()));
  }
  if (even < flat.numel()) sum_tail(carrier, flat.narrow(0, even, flat.numel() - even));
}

/// By columns of all rows together, filled up with zeros to a multiple of the ranks: no tail.
void BucketSync::sum_rows(Collective& carrier, const at::Tensor& rows) {
  const std::int64_t size = carrier.size();
  const std::int64_t columns =
      std::max<std::int64_t>(1, bucket_bytes_ / 2 / (rows.size(0) * rows.element_size()));
  for (std::int64_t begin = 0; begin < rows.size(1); begin += columns) {
    const at::Tensor piece = rows.narrow(1, begin, std::min(columns, rows.size(1) - begin));
    const std::int64_t count = piece.numel(), full = (count + size - 1) / size * size;
    const at::Tensor both = workspace(piece, 2 * full);
    const at::Tensor bucket = both.narrow(0, 0, full);
    const at::Tensor packed = bucket.narrow(0, 0, count).view_as(piece);
    packed.copy_(piece);
    if (count < full) bucket.narrow(0, count, full - count).zero_();
    sum_slices(carrier, bucket, both.narrow(0, full, full));
    piece.copy_(packed);
  }
}

void BucketSync::broadcast(at::Tensor& x, int root) {
  Collective& carrier = carrier_of(x);
  if (carrier.size() == 1 || x.numel() == 0) return;
  carrier.broadcast(x, root);
  carrier.wait(kPeerTimeout);
}

/// @param bucket  a multiple of R elements. @param theirs  as many, of workspace.
void BucketSync::sum_slices(Collective& carrier, at::Tensor bucket, at::Tensor theirs) {
  const std::int64_t ranks = carrier.size();
  const std::int64_t slice = bucket.numel() / ranks;
  carrier.all_to_all(theirs, bucket);
  const at::Tensor sum = theirs.narrow(0, 0, slice);
  for (std::int64_t r = 1; r < ranks; ++r) sum.add_(theirs.narrow(0, r * slice, slice));
  carrier.all_gather_into(bucket, sum);
}

/// Fewer elements than ranks: every rank gathers all of them and sums locally.
void BucketSync::sum_tail(Collective& carrier, at::Tensor tail) {
  const std::int64_t count = tail.numel();
  at::Tensor all = workspace(tail, count * carrier.size());
  carrier.all_gather_into(all, tail);
  tail.copy_(all.narrow(0, 0, count));
  for (std::int64_t r = 1; r < carrier.size(); ++r) tail.add_(all.narrow(0, r * count, count));
}

std::int64_t BucketSync::largest(std::int64_t value) {
  return depthgrid::largest(control_, value);
}

at::Tensor BucketSync::workspace(const at::Tensor& x, std::int64_t count) {
  if (!workspace_.defined() || workspace_.numel() < count ||
      workspace_.scalar_type() != x.scalar_type() || workspace_.device() != x.device()) {
    workspace_ = at::empty({count}, x.options().requires_grad(false));
  }
  return workspace_.narrow(0, 0, count);
}

}  // namespace depthgrid
