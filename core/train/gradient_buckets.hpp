#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/train/gradient_sync.hpp"
#include "core/train/optimizer/arena.hpp"

namespace depthgrid {

/// Sums the gradients of an arena over a team, while the backward pass still computes others.
///
/// The columns of the arena are cut into buckets at the edges of parameters. A bucket's sum is
/// begun once the gradients of all its parameters are complete and all buckets behind it have been
/// begun: last columns first, the same order on every rank, whatever order autograd takes on it.
/// What is complete only at the end, such as a block that all layers share, is begun there. A
/// bucket is one sum for all cells together, so that a step's sums do not grow in number with E.
/// The bits are those of one sum over the whole arena, as GradientSync adds element by element.
/// Nothing is copied here, and no memory is taken: what an exchange needs is BucketSync's.
///
/// Source of the scheme: Li et al. (2020), arXiv:2006.15704, section 3.2.
class GradientBuckets {
 public:
  static constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;

  /// @param arena  has its leaves. Both must outlive this. A team of one costs nothing.
  /// @param least_bytes  of a bucket; larger arenas have larger ones, up to 32 MiB.
  GradientBuckets(Arena& arena, GradientSync& sync, std::int64_t least_bytes = kLeastBytes);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  /// The next backward pass is the last one of this step: sums may begin in it.
  void arm();

  /// Begins what has not begun yet, and returns once all gradients are summed. Collective.
  void finish();

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(buckets_.size()); }

 private:
  struct Bucket {
    std::int64_t begin, end;  // columns
    std::int64_t leaves = 0;
    std::int64_t missing = 0;  // leaves whose gradients are not complete
  };
  class Watch;

  void completed(std::size_t bucket);
  void begin_next();

  Arena& arena_;
  GradientSync& sync_;
  std::vector<Bucket> buckets_;  // last columns first
  std::vector<std::unique_ptr<Watch>> watches_;
  std::size_t next_ = 0;
  bool armed_ = false;
};

}  // namespace depthgrid
