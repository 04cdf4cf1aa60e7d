#include "distributed/bucket_sync.hpp"

#include <algorithm>

#include <ATen/ops/empty.h>

#include "core/base/error.hpp"

namespace depthgrid {

BucketSync::BucketSync(Collective& tensors, Collective& control, std::int64_t bucket_bytes,
                       bool beside)
    : tensors_(tensors), control_(control), bucket_bytes_(bucket_bytes), beside_(beside) {
  if (tensors.size() != control.size() || tensors.rank() != control.rank()) {
    throw Error("BucketSync: the two groups have different ranks");
  }
}

void BucketSync::sum(at::Tensor& x) {
  if (!x.is_contiguous() || !x.is_floating_point()) {
    throw ShapeError("BucketSync: expected a contiguous floating-point tensor");
  }
  Collective& carrier = carrier_of(x);
  if (carrier.size() == 1) return;
  sum_all(carrier, x);
  carrier.wait(kPeerTimeout);
}

void BucketSync::begin_sum(const at::Tensor& x) {
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
  const std::int64_t size = carrier.size();
  const at::Tensor flat = x.detach().view({-1});
  const std::int64_t bucket =
      std::max<std::int64_t>(1, bucket_bytes_ / (size * x.element_size())) * size;
  const std::int64_t even = flat.numel() - flat.numel() % size;
  for (std::int64_t begin = 0; begin < even; begin += bucket) {
    sum_slices(carrier, flat.narrow(0, begin, std::min(bucket, even - begin)));
  }
  if (even < flat.numel()) sum_tail(carrier, flat.narrow(0, even, flat.numel() - even));
}

void BucketSync::broadcast(at::Tensor& x, int root) {
  Collective& carrier = carrier_of(x);
  if (carrier.size() == 1 || x.numel() == 0) return;
  carrier.broadcast(x, root);
  carrier.wait(kPeerTimeout);
}

void BucketSync::sum_slices(Collective& carrier, at::Tensor bucket) {
  const std::int64_t ranks = carrier.size();
  const std::int64_t slice = bucket.numel() / ranks;
  at::Tensor theirs = workspace(bucket, bucket.numel());
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
